package toolclient

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/keepalive"
)

// pool is the gateways of one client.
type pool struct {
	// static after construction
	targets []target
	lookup  func(ctx context.Context, host string) ([]string, error)
	dial    []grpc.DialOption
	log     *slog.Logger
	stop    context.CancelFunc
	stopped <-chan struct{}
	tasks   sync.WaitGroup // the look-ups and one for each peer
	nudge   chan struct{}  // capacity 1; asks for a look-up now

	mu      sync.Mutex
	peers   []*peer       // in the order of their keys
	turn    int           // where the last pick stopped
	changed chan struct{} // closed, and made anew, when a peer comes up
	lookErr error         // of the last look-up
}

// avoidFor is how long a gateway that said it drains, or has no bus, is asked only where there is no other.
const avoidFor = time.Second

func newPool(targets []target, o Options) (*pool, error) {
	p := &pool{
		targets: targets, lookup: o.Lookup, log: o.Logger, nudge: make(chan struct{}, 1), changed: make(chan struct{}),
	}
	p.dial = append(slices.Clone(o.Dial),
		grpc.WithInitialWindowSize(streamWindow), grpc.WithInitialConnWindowSize(connWindow),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: firstPause, Multiplier: 2, Jitter: 0.3, MaxDelay: time.Second},
			MinConnectTimeout: 3 * time.Second,
		}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 3 * time.Second}),
	)
	// A mistake in the options is found here rather than once for each gateway.
	probe, err := grpc.NewClient("passthrough:///options", p.dial...)
	if err != nil {
		return nil, fmt.Errorf("toolclient: %w", err)
	}
	_ = probe.Close() // it has never connected
	ctx, stop := context.WithCancel(context.Background())
	p.stop, p.stopped = stop, ctx.Done()
	p.tasks.Go(func() { p.watch(ctx) })
	return p, nil
}

// One stream carries all the answers of a gateway, so its window fits a few large ones.
const (
	streamWindow = 4 << 20
	connWindow   = 8 << 20
)

func (p *pool) close() {
	p.stop()
	p.tasks.Wait()
}

// pick returns the stream of the next gateway in turn that was not tried yet; nil where there is none. A gateway that is
// avoided, or is silent although it owes answers, comes last. changed is closed when that may have become different.
func (p *pool) pick(tried map[*peer]bool) (s *stream, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var second *stream
	now := time.Now()
	for range p.peers {
		p.turn = (p.turn + 1) % len(p.peers)
		peer := p.peers[p.turn]
		switch {
		case peer.stream == nil || tried[peer]:
		case now.After(peer.avoid) && !peer.stream.quiet(now):
			return peer.stream, nil
		case second == nil:
			second = peer.stream
		}
	}
	return second, p.changed
}

// avoid puts a gateway behind the others for a while.
func (p *pool) avoid(peer *peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer.avoid = time.Now().Add(avoidFor)
}

// up gives new calls to a peer.
func (p *pool) up(peer *peer, s *stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	peer.stream, peer.err = s, nil
	close(p.changed)
	p.changed = make(chan struct{})
}

// down keeps new calls from a peer; err says why.
func (p *pool) down(peer *peer, err error) {
	p.mu.Lock()
	peer.stream, peer.err, peer.avoid = nil, err, time.Time{}
	if drains(err) { // it may still do so when it is asked again
		peer.avoid = time.Now().Add(drainPause + avoidFor)
	}
	p.mu.Unlock()
	select {
	case p.nudge <- struct{}{}:
	default:
	}
}

// ready returns why no gateway is up; nil where one is.
func (p *pool) ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	problems := []error{p.lookErr}
	for _, peer := range p.peers {
		if peer.stream != nil {
			return nil
		}
		problems = append(problems, fmt.Errorf("gateway %s: %w", peer.key.address, peer.err))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	return errConnecting
}
