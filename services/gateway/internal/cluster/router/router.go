package router

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel/trace"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/witness"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

const (
	// silence is how long a holder may say nothing of an open call.
	silence = 5 * time.Second
	// doubt is after which silence the other pods are asked about a call that nobody has said to have. A holder says so after
	// two to three seconds.
	doubt = 3200 * time.Millisecond
	// inquiry bounds the wait for their answers.
	inquiry = 900 * time.Millisecond
	// verdict is how long after its deadline a queued call waits for the holder to say that it was never sent.
	verdict = 500 * time.Millisecond
	// sweepEvery is how often silence is looked for.
	sweepEvery = 500 * time.Millisecond
	// repliesLimit bounds the replies that wait to be read, in bytes.
	repliesLimit = 1 << 30
)

// Local reaches the nodes of this pod.
type Local interface {
	// Deliver starts a call and reports whether the node is here, by the connection that is meant; if not, the sink is told nothing.
	Deliver(key ids.Node, c envelope.Call, frame []byte, sink calls.Sink) bool
	// Cancel gives a call up and reports whether it was open here.
	Cancel(key ids.Node, id ids.CallID, reason string) bool
	// Send writes a frame that is no call.
	Send(key ids.Node, frame []byte, asker string) *errs.Error
	// First returns the user's node that connected to this pod first; "" if none.
	First(user ids.UserID, kind nodev1.NodeType) ids.NodeID
}

// Directory picks nodes by session, type or order of arrival.
type Directory interface {
	Resolve(context.Context, *nodev1.ResolveNodeRequest) (*nodev1.ResolveNodeResponse, error)
	// List returns a user's nodes, and Session the node of a session; neither changes a binding.
	List(context.Context, *nodev1.ListNodesRequest) ([]*nodev1.Node, error)
	Session(context.Context, *nodev1.GetSessionRequest) (*nodev1.GetSessionResponse, error)
	// Forget says that a call did not find a node.
	Forget(ids.Node)
}

// Witness asks all pods whether one of them has seen calls of which nothing is heard. The slice it returns has a place for each call: true where
// it is certain that none has, and none will.
type Witness interface {
	Unseen(ctx context.Context, calls []witness.Call) []bool
}

// Config is what a Router is made of.
type Config struct {
	Gateway   ids.GatewayID
	Bus       *bus.Conn
	Local     Local
	Directory Directory
	Witness   Witness
	// MaxFrame bounds a request frame, MaxReply an answer that comes in chunks; in bytes.
	MaxFrame, MaxReply int
	// CallEnded is called at every call's end with its span, its error, nil where it was answered, and how long it took.
	CallEnded func(span trace.Span, err *errs.Error, took time.Duration)
	Tracing   *obs.Tracing // nil makes no spans
	Logger    *slog.Logger
}

// Router routes calls. It is safe for concurrent use.
type Router struct {
	Config
	prefix string // of reply subjects
	sub    *nats.Subscription

	mu      sync.Mutex
	next    uint64
	pending map[uint64]*Pending // calls and frames that wait for the bus
	closed  bool
	idle    chan struct{} // closed once nothing is pending; nil until somebody waits for that

	inquiring atomic.Bool // pods are being asked about calls

	life context.Context // ends with Close
	end  context.CancelFunc
	work sync.WaitGroup
}

// New returns a Router that listens for replies until Close.
func New(cfg Config) (*Router, error) {
	r := &Router{Config: cfg, prefix: bus.ReplyPrefix(cfg.Gateway), pending: make(map[uint64]*Pending)}
	r.life, r.end = context.WithCancel(context.Background())
	var err error
	if r.sub, err = cfg.Bus.Subscribe(r.prefix+"*", r.heard); err != nil {
		return nil, err
	}
	if err = r.sub.SetPendingLimits(-1, repliesLimit); err != nil {
		return nil, err
	}
	r.work.Go(r.sweep)
	return r, nil
}

// Close ends what is still open, as lost, and stops listening.
func (r *Router) Close() {
	r.end()
	r.work.Wait()
	_ = r.sub.Unsubscribe()
	r.refuse()
	r.giveUp()
}

// Open returns how many calls wait for other pods.
func (r *Router) Open() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.pending)
}

// enter gives a pending call its number and reply subject.
func (r *Router) enter(p *Pending) (subject string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return "", false
	}
	r.next++
	p.number = r.next
	r.pending[p.number] = p
	return r.prefix + strconv.FormatUint(p.number, bus.ReplyBase), true
}

func (r *Router) leave(number uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pending, number)
	if r.idle != nil && len(r.pending) == 0 {
		close(r.idle)
		r.idle = nil
	}
}

func (r *Router) find(number uint64) *Pending {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pending[number]
}

// Deliver takes an answer that came past the bus, and its reference.
func (r *Router) Deliver(number uint64, answer *frame.Buffer) {
	if p := r.find(number); p != nil {
		p.Done(answer, nil)
		return
	}
	answer.Release()
}

// heard takes a message from a reply subject.
func (r *Router) heard(m *nats.Msg) {
	number, err := strconv.ParseUint(strings.TrimPrefix(m.Subject, r.prefix), bus.ReplyBase, 64)
	if err != nil {
		return
	}
	p := r.find(number)
	if p == nil {
		return // over already
	}
	if envelope.NoResponders(m) {
		if !r.Bus.Settled() {
			p.fail(errs.New(errs.BusUnavailable, "the bus has just come back, and the node's pod may not have yet"))
			return
		}
		p.fail(errs.New(errs.NodeNotConnected, "the node is not connected"))
		return
	}
	kind, failure := envelope.ParseReply(m)
	switch {
	case failure != nil:
		p.fail(failure)
	case kind == envelope.Answer:
		p.chunk(m, r.MaxReply)
	case kind == envelope.Queued:
		p.Status(calls.Queued)
	case kind == envelope.Sent:
		p.Status(calls.Sent)
	case kind == envelope.Working:
		p.Status(calls.Working)
	case kind == envelope.Progress:
		p.Progress(m.Data)
	case kind == envelope.Intake:
		p.upload(string(m.Data))
	}
}

// sweep finds the calls whose holder fell silent. While this pod itself is off the bus it hears from nobody, so
// silence means nothing then.
func (r *Router) sweep() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-r.life.Done():
			return
		case now := <-tick.C:
			up := r.Bus.Up()
			var doubtful []*Pending
			for _, p := range r.all() {
				if p.checkSilence(now, up) {
					doubtful = append(doubtful, p)
				}
			}
			if len(doubtful) > 0 && r.inquiring.CompareAndSwap(false, true) {
				r.work.Go(func() {
					r.inquire(doubtful)
					r.inquiring.Store(false)
				})
			}
		}
	}
}

// release frees an answer that nobody wants.
func release(b *frame.Buffer) {
	if b != nil {
		b.Release()
	}
}
