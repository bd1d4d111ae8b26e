package holder

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/peer"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/witness"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
)

// inbox is how many messages of nodes' subjects may wait for the dispatcher. The dispatcher never blocks, so they wait for
// microseconds. The bus drops what does not fit, and routers then take the pod for lost.
const inbox = 16 << 10

// Registry is what a Holder needs of the node registry.
type Registry interface {
	Register(context.Context, *nodev1.Registration) (*nodev1.RegisterResult, error)
	Deregister(context.Context, ids.Node, ids.Epoch) error
}

// Config is what a Holder is made of.
type Config struct {
	Gateway  ids.GatewayID
	Bus      *bus.Conn
	Hub      *hub.Hub
	Registry Registry
	// Witness remembers which calls of other pods this pod has seen, and which it must not take any more.
	Witness *witness.Witness
	// Links take large answers past the bus; nil for none.
	Links *peer.Links
	// MaxFrame bounds a request frame, in bytes.
	MaxFrame int
	// Attached is called with the time from a node's connection until every pod could call it.
	Attached func(took time.Duration)
	Tracing  *obs.Tracing // nil makes no spans
	Logger   *slog.Logger
}

// Holder holds nodes. It is safe for concurrent use.
type Holder struct {
	Config
	messages chan *nats.Msg
	barrier  chan barrier
	intake   intake // owned by the dispatcher
	outbox   outbox
	fresh    fresh // owned by the dispatcher

	names keyLock // orders those who take the same name on this pod

	mu        sync.Mutex
	interests map[*hub.Node]*interest
	left      map[ids.Node]*lingering   // interests of nodes that have left
	handed    chan struct{}             // closed when left is empty; nil where nobody waits for that
	fences    map[*hub.Node][]*nats.Msg // unanswered, for nodes whose epoch is not known yet
	unfenced  map[*hub.Node]struct{}    // nodes whose fence went unanswered

	life context.Context // ends with Close
	end  context.CancelFunc
	work sync.WaitGroup
}

// New returns a Holder that serves the bus until Close.
func New(cfg Config) (*Holder, error) {
	h := &Holder{
		Config:    cfg,
		messages:  make(chan *nats.Msg, inbox),
		barrier:   make(chan barrier),
		interests: make(map[*hub.Node]*interest),
		left:      make(map[ids.Node]*lingering),
		fences:    make(map[*hub.Node][]*nats.Msg),
		unfenced:  make(map[*hub.Node]struct{}),
	}
	h.life, h.end = context.WithCancel(context.Background())
	h.outbox.bus = cfg.Bus
	if err := h.intake.listen(h); err != nil {
		return nil, err
	}
	cfg.Bus.OnReconnect(func() {
		h.work.Go(func() { h.outbox.flush(h.life) })
		h.work.Go(h.refence)
		h.work.Go(h.probe)
	})
	h.work.Go(h.serve)
	h.probe()
	h.work.Go(h.keepFresh)
	return h, nil
}

// Close stops serving the bus, once the nodes have other holders or a second has passed. They must have been let go.
func (h *Holder) Close() {
	h.waitForSuccessors()
	h.settle()
	h.end()
	h.work.Wait()
	h.intake.close()
}

// serve is the dispatcher. Nothing it calls may block.
func (h *Holder) serve() {
	for {
		select {
		case m := <-h.messages:
			h.dispatch(m)
		case b := <-h.barrier:
			for len(h.messages) > 0 {
				h.dispatch(<-h.messages)
			}
			h.fresh.answered(b.asked)
			close(b.done)
		case <-h.life.Done():
			return
		}
	}
}

// settle returns once everything that was sent before the last subscriptions ended has arrived and has been dispatched:
// messages that are on their way when the bus closes are lost.
func (h *Holder) settle() {
	ctx, cancel := context.WithTimeout(h.life, fenceTimeout)
	defer cancel()
	h.roundTrip(ctx) // fails where the bus is away, and with it who could be told
}

// provisional is the epoch of a node that connects while the registry is away.
func provisional() ids.Epoch { return ids.Epoch(time.Now().UnixMilli()) }
