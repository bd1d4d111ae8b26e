package watch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// flushTimeout bounds how long the servers may take to say that they have what was sent to them.
const flushTimeout = 2 * time.Second

var (
	errEcho     = errors.New("the NATS connection does not receive its own messages: watchers on this replica would miss its own events")
	errLost     = errs.New(errs.BusUnavailable, "the connection that brings node events was lost; watch again")
	errAway     = errs.New(errs.BusUnavailable, "the bus that brings node events cannot be reached now")
	errDraining = errs.New(errs.Draining, "this replica is shutting down; watch again")
)

// Feed announces node events and lets others watch them. It is safe for concurrent use.
type Feed struct {
	// static after construction
	nc        *nats.Conn
	log       *slog.Logger
	announced *prometheus.CounterVec // by kind
	lost      prometheus.Counter
	watchers  prometheus.Gauge

	mu      sync.Mutex
	watches map[*Watch]struct{} // guarded by mu
	closed  bool                // guarded by mu
}

// NewFeed returns a Feed over nc, which stays the caller's and must hear itself.
func NewFeed(nc *nats.Conn, log *slog.Logger, reg prometheus.Registerer) (*Feed, error) {
	if nc.Opts.NoEcho {
		return nil, errEcho
	}
	f := &Feed{
		nc: nc, log: log, watches: map[*Watch]struct{}{},
		announced: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hecaton_registry_events_total", Help: "Node events announced, by kind.",
		}, []string{"kind"}),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "hecaton_registry_events_lost_total", Help: "Node events that could not be announced.",
		}),
		watchers: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "hecaton_registry_watchers", Help: "Streams of node events that are open on this replica.",
		}),
	}
	for value := range nodev1.NodeEvent_Kind_name {
		if value != 0 {
			f.announced.WithLabelValues(kindName(nodev1.NodeEvent_Kind(value)))
		}
	}
	reg.MustRegister(f.announced, f.lost, f.watchers)
	return f, nil
}

func kindName(k nodev1.NodeEvent_Kind) string {
	return strings.ToLower(strings.TrimPrefix(k.String(), "KIND_"))
}

// Announce publishes what happened to nodes, in this order. It does not wait for the bus.
func (f *Feed) Announce(ctx context.Context, events []*nodev1.NodeEvent) {
	for _, e := range events {
		data, err := proto.Marshal(e)
		if err == nil {
			err = f.nc.Publish(bus.NodeEventSubject(ids.UserID(e.GetUserId())), data)
		}
		if err != nil {
			f.lost.Inc()
			f.log.WarnContext(ctx, "node event not announced", "kind", e.GetKind(), "user", e.GetUserId(), "error", err)
			continue
		}
		f.announced.WithLabelValues(kindName(e.GetKind())).Inc()
	}
}

// Watch begins to watch one user's nodes, or everybody's where user is empty. When it returns, the subscription is live.
// Close it.
func (f *Feed) Watch(ctx context.Context, user ids.UserID) (*Watch, error) {
	subject := bus.AllNodeEvents
	if user != "" {
		subject = bus.NodeEventSubject(user)
	}
	w := newWatch(f)
	if err := f.add(w); err != nil {
		return nil, err
	}
	if !f.nc.IsConnected() {
		w.Close()
		return nil, errAway
	}
	sub, err := f.nc.Subscribe(subject, func(m *nats.Msg) { w.push(m.Data) })
	if err != nil {
		w.Close()
		return nil, errAway
	}
	w.sub = sub
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if err := f.nc.FlushWithContext(ctx); err != nil {
		w.Close()
		return nil, errAway
	}
	return w, nil
}

// add makes w end with the connection. It comes before the subscription, so that no loss goes unnoticed.
func (f *Feed) add(w *Watch) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return errDraining
	}
	f.watches[w] = struct{}{}
	f.watchers.Inc()
	return nil
}

func (f *Feed) remove(w *Watch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.watches[w]; ok {
		delete(f.watches, w)
		f.watchers.Dec()
	}
}

// Up fails while the bus is away.
func (f *Feed) Up(context.Context) error {
	if !f.nc.IsConnected() {
		return errAway
	}
	return nil
}

// Run ends all watches whenever the connection is lost: what is published meanwhile would be missed silently. It
// returns when ctx ends.
func (f *Feed) Run(ctx context.Context) error {
	lost := f.nc.StatusChanged(nats.RECONNECTING, nats.DISCONNECTED, nats.CLOSED)
	defer f.nc.RemoveStatusListener(lost)
	for {
		select {
		case <-lost:
			f.failAll(errLost)
		case <-ctx.Done():
			return nil
		}
	}
}

// Drain ends all watches and refuses new ones: their clients watch another replica.
func (f *Feed) Drain() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.failAll(errDraining)
}

// Flush returns when what was announced has reached the bus. A bus that is away keeps nobody waiting.
func (f *Feed) Flush(ctx context.Context) error {
	if !f.nc.IsConnected() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if err := f.nc.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("flush node events: %w", err)
	}
	return nil
}

func (f *Feed) failAll(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for w := range f.watches {
		w.fail(err)
	}
}
