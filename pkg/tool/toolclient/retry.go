package toolclient

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
)

// retries decides how one call goes on after it was refused.
type retries struct {
	*Client
	end time.Time // of the call
	// pinned: the call names its node's connection. One that is gone does not come back, so its end is not waited out.
	pinned bool

	last   error                     // why it was refused last
	tried  map[*peer]bool            // the gateways that could not take it, in this round
	first  map[errs.Reason]time.Time // when it was first refused for a reason
	pauses pauses
}

// next returns the stream to send on. It waits where every gateway has refused or none is there.
func (r *retries) next(ctx context.Context) (*stream, error) {
	for {
		s, changed := r.pool.pick(r.tried)
		if s != nil {
			return s, nil
		}
		if err := r.round(ctx, changed); err != nil {
			return nil, err
		}
	}
}

// round waits until it makes sense to ask the gateways again.
func (r *retries) round(ctx context.Context, changed <-chan struct{}) error {
	pause, worth := r.left(errs.BusUnavailable, r.patience.Unavailable), true
	if len(r.tried) > 0 { // they are there, so they are asked again after a pause
		pause, worth = r.nextPause(errs.BusUnavailable, r.patience.Unavailable)
	}
	if !worth {
		return public(r.last)
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-changed:
		return nil
	case <-timer.C:
		if len(r.tried) > 0 {
			clear(r.tried)
			return nil
		}
	case <-r.pool.stopped:
		return errs.New(errs.BusUnavailable, "the client is closed")
	case <-ctx.Done():
	}
	switch {
	case r.last != nil:
		return public(r.last)
	case errors.Is(ctx.Err(), context.Canceled):
		return errs.New(errs.Cancelled, "the caller cancelled the call before it was sent: %w", ctx.Err())
	}
	return errs.New(errs.BusUnavailable, "no gateway can be reached: %w", r.pool.ready())
}

// again reports whether the call, refused by a gateway with err, may be tried once more; it waits as long as it should.
func (r *retries) again(ctx context.Context, p *peer, err error) bool {
	r.last = err
	var unsent *unsentError
	switch {
	case errors.Is(err, errs.Draining), errors.Is(err, errs.BusUnavailable):
		r.pool.avoid(p)
		r.try(p)
		return true
	case errors.As(err, &unsent):
		r.try(p)
		return true
	case errors.Is(err, errs.NodeNotConnected) && !r.pinned:
		return r.pause(ctx, errs.NodeNotConnected, r.patience.NotConnected)
	case errors.Is(err, errs.NodeBusy):
		return r.pause(ctx, errs.NodeBusy, r.patience.Busy)
	}
	return false
}

// try notes that a gateway could not take the call. To move on to the next one is free: no gateway is asked twice.
func (r *retries) try(p *peer) {
	if r.tried == nil {
		r.tried = map[*peer]bool{}
	}
	r.tried[p] = true
}

// pause waits before a second try; false where it may not be made.
func (r *retries) pause(ctx context.Context, reason errs.Reason, patience time.Duration) bool {
	d, worth := r.nextPause(reason, patience)
	return worth && sleep.For(ctx, d)
}

// nextPause returns how long to wait before a second try, and whether there may be one. The last is made when patience
// ends; one that would begin at the call's deadline would only make its outcome unknown.
func (r *retries) nextPause(reason errs.Reason, patience time.Duration) (d time.Duration, worth bool) {
	left := r.left(reason, patience)
	d = min(r.pauses.next(), left)
	return d, left > 0 && d < time.Until(r.end) && r.budget.take()
}

// left is how much longer the call may go on in spite of a reason.
func (r *retries) left(reason errs.Reason, patience time.Duration) time.Duration {
	since, again := r.first[reason]
	if !again {
		since = time.Now()
		if r.first == nil {
			r.first = map[errs.Reason]time.Time{}
		}
		r.first[reason] = since
	}
	return min(time.Until(since.Add(patience)), time.Until(r.end))
}

// pauses is a sequence of waits, each between half and the whole of a ceiling that doubles from firstPause to maxPause.
type pauses struct{ n int }

const (
	firstPause = 50 * time.Millisecond
	maxPause   = 500 * time.Millisecond
)

func (p *pauses) next() time.Duration {
	ceiling := maxPause
	if p.n < 10 {
		ceiling = min(firstPause<<p.n, maxPause)
	}
	p.n++
	return ceiling/2 + rand.N(ceiling/2)
}

// budget bounds the second tries of all calls of a client: a hundred each second, of which ten seconds' worth can be saved
// up. A call waits for a node with some ten tries, so a hundred calls may do so at once and for good; what comes on top of
// that is a cluster in trouble.
type budget struct {
	mu   sync.Mutex
	have float64
	at   time.Time
}

const (
	retriesPerSecond = 100
	retriesSaved     = 10 * retriesPerSecond
)

func newBudget() *budget { return &budget{have: retriesSaved, at: time.Now()} }

func (b *budget) take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.have = min(b.have+now.Sub(b.at).Seconds()*retriesPerSecond, retriesSaved)
	b.at = now
	if b.have < 1 {
		return false
	}
	b.have--
	return true
}
