package limits

import (
	"context"
	"math"
	"time"

	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

const (
	// leaseFor is how long the registry holds a pod's places for it.
	leaseFor = 10 * time.Second
	// renewEvery is how often it is told that they are still held.
	renewEvery = 3 * time.Second
	// pause is how long the registry is not asked after it could not be.
	pause = time.Second
	// batch bounds the users of one request.
	batch = 256
	// lastWords is how long the last request may take.
	lastWords = time.Second
)

// answer is what requests for places wait for.
type answer struct{ done chan struct{} }

func newAnswer() *answer { return &answer{done: make(chan struct{})} }

// tell has the account reported to the registry soon. Called with mu held.
func (a *Account) tell() {
	if a.listed {
		return
	}
	a.listed = true
	l := a.limiter
	l.mu.Lock()
	l.listed = append(l.listed, a)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// renew has places reported to the registry before it forgets them. Called with mu held.
func (a *Account) renew() {
	for kind := rates; kind < kinds; kind++ {
		p := a.held(kind)
		if p.granted > 0 || p.held > own(a.limiter.Settings.most(kind)) {
			a.tell()
		}
	}
}

// share tells the registry what is taken until the Limiter closes. What is listed while a request is on its way goes with
// the next one.
func (l *Limiter) share() {
	renew := time.NewTicker(renewEvery)
	defer renew.Stop()
	var resume <-chan time.Time // while the registry is not asked
	wake := l.wake
	for {
		select {
		case <-wake:
		case <-resume:
		case now := <-renew.C:
			l.forget(now)
			continue
		case <-l.quit:
			l.forget(time.Now()) // lists who holds places
			ctx, cancel := context.WithTimeout(context.Background(), lastWords)
			defer cancel()
			l.shareAll(ctx, 0) // the pod's places are given back when it ends
			return
		}
		resume, wake = nil, l.wake
		if !l.shareAll(context.Background(), leaseFor) {
			resume, wake = time.After(pause), nil
		}
	}
}

// shareAll tells the registry of all listed accounts, and reports whether it could.
func (l *Limiter) shareAll(ctx context.Context, ttl time.Duration) bool {
	for {
		l.mu.Lock()
		accounts := l.listed[:min(batch, len(l.listed))]
		l.listed = l.listed[len(accounts):]
		l.mu.Unlock()
		if len(accounts) == 0 {
			return true
		}
		if !l.shareSome(ctx, accounts, ttl) {
			return false
		}
	}
}

// shareSome tells the registry of some accounts. A ttl of 0 gives up their places.
func (l *Limiter) shareSome(ctx context.Context, accounts []*Account, ttl time.Duration) bool {
	reports := make([]report, len(accounts))
	users := make([]*nodev1.UserUse, len(accounts))
	for i, a := range accounts {
		reports[i] = a.report(ttl == 0)
		users[i] = reports[i].use
	}
	shares, err := l.Registry.ShareUse(ctx, max(ttl, leaseFor), users)
	failed := err != nil
	if failed != l.away.Swap(failed) {
		if failed {
			l.Logger.Warn("the limits of users hold for this pod alone: the registry cannot be asked", "error", err)
		} else {
			l.Logger.Info("the limits of users hold across pods again")
		}
	}
	for i := range reports {
		var share *nodev1.UserShare
		if err == nil && shares[i].GetError() == "" {
			share = shares[i]
		}
		failed = !accounts[i].settle(reports[i], share) || failed
	}
	return !failed
}

// report is what the registry is told about an account, and the requests that wait for its answer.
type report struct {
	use     *nodev1.UserUse
	spent   []limit
	places  []limit
	waiting *answer
}

// report notes what was taken since the last report.
func (a *Account) report(last bool) report {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.listed = false
	r := report{use: &nodev1.UserUse{UserId: string(a.user)}, waiting: a.waiting}
	a.waiting = nil
	for kind := range rates {
		rate, b := a.limiter.Settings.rate(kind), &a.rates[kind]
		amount := math.Floor(b.untold)
		if rate.none() || amount < 1 {
			continue
		}
		b.untold -= amount
		r.spent = append(r.spent, kind)
		r.use.Spent = append(r.use.Spent, &nodev1.Spent{
			Limit: names[kind], Amount: int64(amount), PerSecond: rate.perSecond, Burst: int64(rate.burst),
		})
	}
	for kind := rates; kind < kinds; kind++ {
		most, p := a.limiter.Settings.most(kind), a.held(kind)
		if p.granted == 0 && p.wanted == 0 && p.held <= own(most) {
			continue
		}
		held, wanted := p.held, p.held+p.wanted
		if last || p.wanted == 0 && p.held <= own(most) {
			held, wanted = 0, 0 // the pod's own share is not leased
		}
		r.places = append(r.places, kind)
		r.use.Places = append(r.use.Places, &nodev1.Places{
			Limit: names[kind], Held: int64(held), Wanted: int64(wanted), Most: int64(most),
		})
	}
	return r
}

// settle takes what the registry answered, nil where it did not, and reports whether that was an answer.
func (a *Account) settle(r report, share *nodev1.UserShare) (ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ok = share != nil && len(share.GetLeft()) == len(r.spent) && len(share.GetGranted()) == len(r.places)
	if !ok {
		for i, kind := range r.spent { // to be told again, but no more than fits the bucket
			b := &a.rates[kind]
			b.untold = min(b.untold+float64(r.use.GetSpent()[i].GetAmount()), a.limiter.Settings.rate(kind).burst)
		}
		if len(r.spent)+len(r.places) > 0 {
			a.tell()
		}
	} else {
		for i, kind := range r.spent {
			b := &a.rates[kind]
			b.fill(a.limiter.Settings.rate(kind), time.Now())
			b.level = min(b.level, float64(share.GetLeft()[i])-b.untold)
		}
		for i, kind := range r.places {
			p := a.held(kind)
			p.granted = int32(share.GetGranted()[i])
			if int64(p.held) < r.use.GetPlaces()[i].GetHeld() && p.wanted == 0 {
				a.tell() // some left meanwhile
			}
		}
	}
	if r.waiting != nil {
		close(r.waiting.done)
	}
	return ok
}
