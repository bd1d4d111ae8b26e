package limits

import (
	"context"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Account is what one user takes of this pod. Its methods may be called from several goroutines, and on nil.
type Account struct {
	// Static after construction.
	limiter *Limiter
	user    ids.UserID

	// Guarded by mu.
	mu      sync.Mutex
	rates   [rates]bucket
	places  [kinds - rates]places
	open    int32   // calls
	pins    int32   // how many hold the account; it is not forgotten meanwhile
	used    int64   // last, Unix ns
	listed  bool    // is among those that will be reported to the registry
	gone    bool    // is forgotten
	waiting *answer // what requests for more places wait for; nil where there are none
}

func (l *Limiter) newAccount(user ids.UserID, now time.Time) *Account {
	a := &Account{limiter: l, user: user}
	for i := range a.rates {
		a.rates[i] = newBucket(l.Settings.rate(limit(i)), now)
	}
	return a
}

// Enter lets in a user's call that brings n bytes: it takes one of the user's calls a second, and one of the calls that may be
// open, until Leave. The error is an *errs.Error of reason RATE_LIMITED: then nothing was taken.
func (l *Limiter) Enter(user ids.UserID, n int64) (*Account, error) {
	if l == nil {
		return nil, nil
	}
	now := time.Now()
	a := l.lock(user, now)
	defer a.mu.Unlock()
	if err := a.spend(now); err != nil {
		return nil, err
	}
	if most := l.Settings.OpenCalls; most > 0 && int(a.open) >= most {
		return nil, l.met(openCalls, int64(most), 0, time.Second)
	}
	a.take(calls, 1)
	a.take(sentBytes, float64(max(0, n)))
	a.open++
	a.pins++
	return a, nil
}

// Leave ends what Enter began.
func (a *Account) Leave() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open--
	a.pins--
	a.used = time.Now().UnixNano()
}

// Ask takes one of the account's calls, for what a socket asks. The error is as with Enter.
func (a *Account) Ask() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.spend(time.Now()); err != nil {
		return err
	}
	a.take(calls, 1)
	return nil
}

// Connect lets a user open a socket. Close the account with its end. The error is as with Enter.
func (l *Limiter) Connect(user ids.UserID) (*Account, error) {
	if l == nil {
		return nil, nil
	}
	now := time.Now()
	a := l.lock(user, now)
	defer a.mu.Unlock()
	r := l.Settings.rate(connects)
	if b := &a.rates[connects]; !r.none() {
		b.fill(r, now)
		if wait := b.has(1, r); wait > 0 {
			return nil, l.met(connects, int64(r.burst), 0, wait)
		}
		a.take(connects, 1)
	}
	a.pins++
	return a, nil
}

// Close ends what Connect began.
func (a *Account) Close() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pins--
	a.used = time.Now().UnixNano()
}

// spend checks that a call may be made now. Called with mu held.
func (a *Account) spend(now time.Time) error {
	a.used = now.UnixNano()
	l := a.limiter
	if r := l.Settings.rate(calls); !r.none() {
		b := &a.rates[calls]
		b.fill(r, now)
		if wait := b.has(1, r); wait > 0 {
			return l.met(calls, int64(r.burst), 0, wait)
		}
	}
	if r := l.Settings.rate(sentBytes); !r.none() {
		// A user who has anything left may send something large, and waits longer afterwards.
		b := &a.rates[sentBytes]
		b.fill(r, now)
		if wait := b.has(1, r); wait > 0 {
			return l.met(sentBytes, int64(r.burst), 0, wait)
		}
	}
	return nil
}

// take takes n of a rate and reports it to the registry in time. Called with mu held.
func (a *Account) take(kind limit, n float64) {
	r := a.limiter.Settings.rate(kind)
	if !r.none() && a.rates[kind].take(n, r) {
		a.tell()
	}
}

// Pay takes n bytes that have already come.
func (a *Account) Pay(n int) {
	if a == nil || n == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rates[sentBytes].fill(a.limiter.Settings.rate(sentBytes), time.Now())
	a.take(sentBytes, float64(n))
}

// longestPause is the longest time for which a socket is not read, so that its signs of life are seen.
const longestPause = 5 * time.Second

// PayAndWait takes n bytes that have already come, and waits while more were taken than the limit allows: what a client sends
// faster stays in its own socket.
func (a *Account) PayAndWait(ctx context.Context, n int) {
	if a == nil {
		return
	}
	r := a.limiter.Settings.rate(sentBytes)
	if r.none() {
		return
	}
	a.mu.Lock()
	b := &a.rates[sentBytes]
	b.fill(r, time.Now())
	a.take(sentBytes, float64(n))
	wait := b.has(0, r)
	a.mu.Unlock()
	if wait == 0 {
		return
	}
	a.limiter.count(sentBytes)
	timer := time.NewTimer(min(wait, longestPause))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// held are the places of one kind. Called with mu held.
func (a *Account) held(kind limit) *places { return &a.places[kind-rates] }

// idle reports whether the account can be forgotten. Called with mu held.
func (a *Account) idle(now time.Time) bool {
	if a.pins > 0 || a.listed || now.UnixNano()-a.used < int64(forgetAfter) {
		return false
	}
	for kind := rates; kind < kinds; kind++ {
		if p := a.held(kind); p.held > 0 || p.granted > 0 || p.wanted > 0 {
			return false
		}
	}
	for i := range a.rates {
		r := a.limiter.Settings.rate(limit(i))
		b := &a.rates[i]
		if b.fill(r, now); !r.none() && b.level < r.burst {
			return false
		}
	}
	return true
}
