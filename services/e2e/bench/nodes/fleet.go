package nodes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// dials is how many nodes open a connection at once.
	dials = 256
	// patience bounds each wait of a Fleet's methods.
	patience = 5 * time.Minute
	// pause is how long a node waits before it tries again.
	pause = 20 * time.Millisecond
	// refusal is how long it waits where it was refused.
	refusal = time.Second
)

// Fleet is many nodes. Its exported methods are those of a service for net/rpc.
type Fleet struct {
	answer  atomic.Pointer[answer]
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup
	dialing chan struct{} // a place for each node that connects

	mu      sync.Mutex
	nodes   []*node  // all that were ever to connect
	next    []string // where nodes go in turn whose connection ends; none ends them
	moves   int      // how many went there
	total   int      // nodes there are
	up      int      // nodes that are registered
	awaited int      // losses that are due before the fleet is whole again
	lostAt  time.Time
	wholeAt time.Time
	whole   chan struct{} // closed while all nodes are up and no loss is awaited
	failed  error         // the first node that could not go on
	retries int
	dropped int // connections that ended although the nodes were to stay
}

// NewFleet returns a fleet without nodes; Close ends it.
func NewFleet() *Fleet {
	f := &Fleet{dialing: make(chan struct{}, dials), whole: make(chan struct{})}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f
}

// Close ends all connections and waits for the nodes.
func (f *Fleet) Close() {
	f.cancel()
	f.work.Wait()
}

// Plan is a number of nodes to connect.
type Plan struct {
	Addr    string
	Dialect Dialect
	Count   int
	// PerUser is how many of them one user has.
	PerUser int
	// First is the number of the first one, from which its name follows (see [Name]).
	First int
	// Again has a node whose connection ends, or that is refused, try again at the same address. Otherwise that is a failure.
	Again bool
}

// Connect connects nodes and answers, once all are registered, how long that took.
func (f *Fleet) Connect(p Plan, took *time.Duration) error {
	start := time.Now()
	arriving := make([]*node, p.Count)
	for i := range arriving {
		arriving[i] = &node{fleet: f, dialect: p.Dialect, again: p.Again}
		arriving[i].user, arriving[i].name = Name(p.First+i, p.PerUser)
	}
	f.mu.Lock()
	f.nodes = append(f.nodes, arriving...)
	f.total += p.Count
	f.whole = make(chan struct{})
	f.mu.Unlock()
	for _, n := range arriving {
		f.work.Go(func() { f.live(n, p.Addr) })
	}
	if err := f.await(); err != nil {
		return err
	}
	*took = time.Since(start)
	return nil
}

// Answer sets the size of the results from now on, in bytes.
func (f *Fleet) Answer(size int, _ *struct{}) error {
	a, err := newAnswer(size)
	if err == nil {
		f.answer.Store(a)
	}
	return err
}

// Say makes the results texts of so many bytes from now on.
func (f *Fleet) Say(size int, _ *struct{}) error {
	f.answer.Store(newText(size))
	return nil
}

// Follow sets the addresses to which nodes go, one after the other, when their connections end; all of these are about to end.
func (f *Fleet) Follow(addrs []string, _ *struct{}) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next, f.moves, f.awaited, f.whole = addrs, 0, f.up, make(chan struct{})
	f.lostAt = time.Time{}
	return nil
}

// Return is how a fleet came back.
type Return struct {
	// Took is from the first loss to the last registration.
	Took time.Duration
	// Retries counts attempts to connect that failed.
	Retries int
	// Missing nodes have not come back, for the reason in Why; Took is then how long they were waited for.
	Missing int
	Why     string
}

// Returned waits until every node was lost and has registered again, or has had time enough for that.
func (f *Fleet) Returned(_ struct{}, r *Return) error {
	err := f.await()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		*r = Return{Took: f.wholeAt.Sub(f.lostAt), Retries: f.retries}
		return nil
	}
	*r = Return{time.Since(f.lostAt), f.retries, len(f.nodes) - f.up, err.Error()}
	return nil
}

// Dropped tells how many connections ended although the nodes were to stay.
func (f *Fleet) Dropped(_ struct{}, n *int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	*n = f.dropped
	return nil
}

// await waits until the fleet is whole.
func (f *Fleet) await() error {
	f.mu.Lock()
	whole := f.whole
	f.mu.Unlock()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case <-whole:
	case <-timeout.C:
		f.mu.Lock()
		defer f.mu.Unlock()
		err := fmt.Errorf("after %v %d of %d nodes are registered, %d have yet to be lost", patience, f.up, f.total, f.awaited)
		return errors.Join(err, f.failed)
	case <-f.ctx.Done():
		return f.ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// live is the life of one node, over all its connections.
func (f *Fleet) live(n *node, addr string) {
	for addr != "" {
		w, err := f.connect(n, addr)
		if err != nil {
			f.fail(fmt.Errorf("%s of %s: %w", n.name, n.user, err))
			return
		}
		f.arrived()
		n.wire.Store(w)
		err = n.serve(f.ctx, w)
		n.wire.Store(nil)
		addr = f.lost(n, addr, err)
	}
}

// connect tries until it succeeds, unless the pod says that the node may not come.
func (f *Fleet) connect(n *node, addr string) (*wire, error) {
	select {
	case f.dialing <- struct{}{}:
		defer func() { <-f.dialing }()
	case <-f.ctx.Done():
		return nil, f.ctx.Err()
	}
	for {
		w, err := n.connect(f.ctx, addr)
		var closed closedError
		refused := errors.As(err, &closed) || errors.Is(err, errRefused)
		if err == nil || refused && !n.again || f.ctx.Err() != nil {
			return w, err
		}
		f.mu.Lock()
		f.retries++
		f.mu.Unlock()
		wait := pause
		if refused {
			wait = refusal
		}
		select {
		case <-time.After(wait):
		case <-f.ctx.Done():
			return nil, f.ctx.Err()
		}
	}
}

func (f *Fleet) arrived() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.up++
	f.settle()
}

// lost notes the end of a connection to addr and returns where its node goes.
func (f *Fleet) lost(n *node, addr string, err error) (next string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lostAt.IsZero() {
		f.lostAt = time.Now()
	}
	f.up--
	f.awaited = max(0, f.awaited-1)
	if len(f.next) > 0 {
		f.moves++
		return f.next[f.moves%len(f.next)]
	}
	if n.again && f.ctx.Err() == nil {
		f.dropped++
		return addr
	}
	if f.failed == nil && f.ctx.Err() == nil {
		f.failed = fmt.Errorf("a node lost its connection: %w", err)
	}
	return ""
}

func (f *Fleet) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed == nil {
		f.failed = err
	}
	f.total--
	f.settle()
}

// settle is called with mu held.
func (f *Fleet) settle() {
	if f.up == f.total && f.awaited == 0 {
		f.wholeAt = time.Now()
		select {
		case <-f.whole:
		default:
			close(f.whole)
		}
	}
}
