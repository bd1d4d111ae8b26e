package fleet

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/plan"
)

// Book is the nodes' end of the ledger.
type Book interface {
	// Executed is called for every call that a node receives, and returns the text of the answer. It must return soon.
	Executed(node int, c Call) (answer string)
}

// Call is a call as a node is given it.
type Call struct {
	ID, Tool  string
	Arguments []byte
}

// Options of a fleet.
type Options struct {
	Plan *plan.Plan
	// Servers are base URLs of gateways or of a load balancer; nodes go to them in turn.
	Servers []string
	// Token returns the bearer token of a user; "" in trusted mode.
	Token func(user string) (string, error)
	Book  Book
	// Tools are what the nodes offer.
	Tools  []string
	Logger *slog.Logger
}

// dials is how many nodes connect at once: a TLS handshake takes processor time.
const dials = 64

// Fleet is many nodes.
type Fleet struct {
	// Static after construction.
	o       Options
	client  *http.Client
	nodes   []*node
	dialing chan struct{}

	up   atomic.Int64
	work sync.WaitGroup

	mu sync.Mutex
	// Guarded by mu.
	stats       Stats
	reconnected func(time.Time)
	whole       chan struct{} // closed once every node has been connected
}

// New returns a fleet whose nodes are not connected yet.
func New(o Options) *Fleet {
	o.Logger = obs.OrDiscard(o.Logger)
	f := &Fleet{o: o, dialing: make(chan struct{}, dials), whole: make(chan struct{}), stats: newStats()}
	f.client = newClient()
	for i := range o.Plan.Nodes {
		f.nodes = append(f.nodes, &node{Node: o.Plan.Node(i), fleet: f, index: i, away: make(chan time.Duration, 1)})
	}
	return f
}

// newClient dials sockets. It keeps no connections: each becomes a socket.
func newClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one
	t.DisableKeepAlives = true
	return &http.Client{Transport: t}
}

// Start connects the nodes, which live until ctx ends. [Fleet.Wait] waits for the end.
func (f *Fleet) Start(ctx context.Context) {
	for _, n := range f.nodes {
		f.work.Go(func() { n.live(ctx) })
	}
}

// Wait returns when all that the fleet does has ended.
func (f *Fleet) Wait() { f.work.Wait() }

// Ready waits until every node has been connected. It gives up as soon as a gateway refuses a node, since waiting will not
// change that.
func (f *Fleet) Ready(ctx context.Context) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-f.whole:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("%d of %d nodes are connected (%s): %w", f.up.Load(), len(f.nodes), f.Stats().lastProblem, context.Cause(ctx))
		case <-tick.C:
			if problem := f.Stats().forbidden; problem != nil {
				return fmt.Errorf("a node may not connect: %w", problem)
			}
		}
	}
}

// Watch has each be told when a node is connected again, from now on.
func (f *Fleet) Watch(each func(time.Time)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reconnected = each
}

// Up is how many nodes are connected.
func (f *Fleet) Up() int { return int(f.up.Load()) }

// Churn makes nodes leave and come back as the plan says, until ctx ends.
func (f *Fleet) Churn(ctx context.Context) {
	begin := time.Now()
	for n := int64(0); ; n++ {
		at, node, away := f.o.Plan.Leaving(n)
		if !sleep.For(ctx, time.Until(begin.Add(at))) {
			return
		}
		f.nodes[node].leave(away)
	}
}
