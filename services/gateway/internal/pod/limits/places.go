package limits

import (
	"context"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// places are what a user has of one kind in this pod.
type places struct {
	held    int32 // taken
	wanted  int32 // by those who wait
	granted int32 // leased from the registry; the pod's own share counts only while it is greater
}

// own is how many places of most a pod gives without asking.
func own(most int) int32 { return int32(max(1, most/share)) }

// Place is one that was taken; Leave gives it back.
type Place struct {
	account *Account
	kind    limit
	once    sync.Once
}

// Stream takes a place for an event stream. It may ask the registry. The error is an *errs.Error of reason RATE_LIMITED, or
// the context's.
func (l *Limiter) Stream(ctx context.Context, user ids.UserID) (*Place, error) {
	return l.acquire(ctx, user, streams)
}

// WebSocket takes a place for a web client, as Stream does.
func (l *Limiter) WebSocket(ctx context.Context, user ids.UserID) (*Place, error) {
	return l.acquire(ctx, user, webSockets)
}

func (l *Limiter) acquire(ctx context.Context, user ids.UserID, kind limit) (*Place, error) {
	if l == nil || l.Settings.most(kind) == 0 {
		return nil, nil
	}
	most := int32(l.Settings.most(kind))
	a := l.lock(user, time.Now())
	defer a.mu.Unlock()
	a.pins++
	p := a.held(kind)
	for asked := false; ; asked = true {
		switch away := l.away.Load(); {
		case p.held < max(own(int(most)), p.granted), away && p.held < most:
			p.held++
			if p.held > own(int(most)) && p.held > p.granted {
				a.tell() // what was given without asking
			}
			return &Place{account: a, kind: kind}, nil
		case asked, p.held >= most:
			a.pins--
			return nil, l.met(kind, int64(most), int64(max(0, most-p.held-p.wanted)), retryPlace)
		}
		if err := a.await(ctx, p); err != nil {
			a.pins--
			return nil, err
		}
	}
}

// retryPlace is when a client may ask again for a place: nobody knows when one will be free.
const retryPlace = 5 * time.Second

// await asks for one more place and returns when the registry has answered, or cannot be reached. Called with mu held, which
// it gives back meanwhile.
func (a *Account) await(ctx context.Context, p *places) error {
	p.wanted++
	if a.waiting == nil {
		a.waiting = newAnswer()
	}
	came := a.waiting
	a.tell()
	a.mu.Unlock()
	var err error
	select {
	case <-came.done:
	case <-ctx.Done():
		err = ctx.Err()
	case <-a.limiter.quit:
		err = errs.New(errs.Draining, "this pod is shutting down")
	}
	a.mu.Lock()
	p.wanted--
	if err != nil {
		a.tell() // that fewer are needed
	}
	return err
}

// Leave gives the place back; it may be called more than once, and on nil.
func (p *Place) Leave() {
	if p == nil {
		return
	}
	p.once.Do(func() {
		a := p.account
		a.mu.Lock()
		defer a.mu.Unlock()
		held := a.held(p.kind)
		held.held--
		a.pins--
		a.used = time.Now().UnixNano()
		if held.granted > held.held {
			a.tell()
		}
	})
}
