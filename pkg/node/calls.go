package node

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// maxWaiting is how many calls may wait for a handler; the gateway's own queue for a node is as long.
	maxWaiting = 64
	// rememberedIDs is how many ids of finished calls are remembered. At 36 bytes an id that is some 300 KiB.
	rememberedIDs = 4096
)

// Why a call is refused before it begins.
var (
	errRunning   = errors.New("the call is being executed already")
	errExecuted  = errors.New("the call was received before; a call is executed at most once")
	errBusy      = errors.New("the node is busy; try again later")
	errUnstarted = errors.New("the call ended before it started")
	errStopping  = errors.New("the node is stopping")
)

// calls is every call of a node, over all its connections.
type calls struct {
	// slots holds one token for each handler that runs.
	slots  chan struct{}
	orphan time.Duration
	wg     sync.WaitGroup

	mu sync.Mutex
	// Guarded by mu.
	active   map[callID]*activeCall
	recent   *recentIDs
	stopping bool
}

// activeCall waits for a slot, runs, or is being answered.
type activeCall struct {
	// Static after construction.
	id      callID
	session *session
	cancel  context.CancelCauseFunc

	// Guarded by calls.mu. done is set once there is an answer to send, giveUp when the connection was lost.
	done   bool
	giveUp *time.Timer
}

func newCalls(concurrent int, orphan time.Duration) *calls {
	return &calls{
		slots:  make(chan struct{}, concurrent),
		orphan: orphan,
		active: map[callID]*activeCall{},
		recent: newRecentIDs(rememberedIDs),
	}
}

// begin admits a call that came over s. The caller must end what it gets.
func (c *calls) begin(ctx context.Context, s *session, id callID) (context.Context, *activeCall, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	earlier := c.active[id]
	switch {
	case c.stopping:
		return nil, nil, errStopping
	case earlier != nil && !earlier.done:
		return nil, nil, errRunning
	case earlier != nil, c.recent.has(id):
		return nil, nil, errExecuted
	case len(c.active) >= cap(c.slots)+maxWaiting:
		return nil, nil, errBusy
	}
	ctx, cancel := context.WithCancelCause(ctx)
	call := &activeCall{id: id, session: s, cancel: cancel}
	c.active[id] = call
	c.recent.add(id)
	c.wg.Add(1)
	return ctx, call, nil
}

// acquire waits for a slot. A call that has ended meanwhile gets none, even if one is free.
func (c *calls) acquire(ctx context.Context) error {
	select {
	case c.slots <- struct{}{}:
		if ctx.Err() != nil {
			c.release()
			return errUnstarted
		}
		return nil
	case <-ctx.Done():
		return errUnstarted
	}
}

func (c *calls) release() { <-c.slots }

// running is the number of tasks a heartbeat reports.
func (c *calls) running() int { return len(c.slots) }

// executed is called before the answer is sent: an equal call that comes after the answer is one that was received before.
func (c *calls) executed(call *activeCall) {
	c.mu.Lock()
	defer c.mu.Unlock()
	call.done = true
}

// end lets go of a call. Until then it counts among those admitted, so that answers nobody reads stay bounded in number.
func (c *calls) end(call *activeCall) {
	c.mu.Lock()
	delete(c.active, call.id)
	if call.giveUp != nil {
		call.giveUp.Stop()
	}
	c.mu.Unlock()
	call.cancel(nil)
	c.wg.Done()
}

// cancelCall ends the context of a call, whichever connection it came over. It reports whether there was one.
func (c *calls) cancelCall(id callID, cause error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.active[id]
	if call != nil {
		call.cancel(cause)
	}
	return call != nil
}

// disown lets the calls of a lost connection run for as long as their callers would have waited at most.
func (c *calls) disown(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range c.active {
		if call.session == s {
			call.giveUp = time.AfterFunc(c.orphan, func() { call.cancel(ErrConnectionLost) })
		}
	}
}

// drain admits no more calls and waits for those that there are; their contexts have ended or will.
func (c *calls) drain() {
	c.mu.Lock()
	c.stopping = true
	c.mu.Unlock()
	c.wg.Wait()
}

// recentIDs remembers the last ids it was given, and forgets the oldest.
type recentIDs struct {
	set  map[callID]struct{}
	ring []callID
	next int
}

func newRecentIDs(size int) *recentIDs {
	return &recentIDs{set: make(map[callID]struct{}), ring: make([]callID, size)}
}

func (r *recentIDs) has(id callID) bool { _, ok := r.set[id]; return ok }

func (r *recentIDs) add(id callID) {
	if old := r.ring[r.next]; old != "" {
		delete(r.set, old)
	}
	r.set[id] = struct{}{}
	r.ring[r.next] = id
	r.next = (r.next + 1) % len(r.ring)
}
