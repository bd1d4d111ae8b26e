package lease

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

const (
	// lookEvery is how often silent gateways are looked for.
	lookEvery = time.Second
	// looks is how often in a row a gateway, whose report has ended by then, must be found silent. If the store or the registry was
	// away, all gateways are silent at first, and report within a second or two.
	looks = 5
	// vacateAtOnce is how many connections are taken from a silent gateway at a time.
	vacateAtOnce = 500
)

// Silences is the store as a Listener needs it.
type Silences interface {
	// Silent names the gateways whose report has ended.
	Silent(ctx context.Context) ([]ids.GatewayID, error)
	// Vacate ends leases of a silent gateway; whoever ended one has it in the result, and nobody else.
	Vacate(ctx context.Context, gateway ids.GatewayID, max int) (store.Vacated, error)
	// Forget has a gateway no longer looked at, unless it has reported again.
	Forget(ctx context.Context, gateway ids.GatewayID) error
}

// Listener ends the leases of gateways that hang or were killed: each reports every second while it lives. A node that sleeps is not its
// affair, since its gateway reports all the same. Any number of replicas may listen at once.
type Listener struct {
	// static after construction
	silences  Silences
	announcer Announcer
	log       *slog.Logger
	vacated   prometheus.Counter

	found map[ids.GatewayID]int // how often in a row each was silent; owned by Run
}

// ListenerOptions are what a [Listener] is made of.
type ListenerOptions struct {
	Silences  Silences
	Announcer Announcer
	Logger    *slog.Logger // nil means discard
	Metrics   prometheus.Registerer
}

// NewListener returns a Listener.
func NewListener(o ListenerOptions) (*Listener, error) {
	if err := options.Require("lease", map[string]bool{
		"Silences": o.Silences == nil, "Announcer": o.Announcer == nil, "Metrics": o.Metrics == nil,
	}); err != nil {
		return nil, err
	}
	l := &Listener{
		silences: o.Silences, announcer: o.Announcer, log: obs.OrDiscard(o.Logger), found: map[ids.GatewayID]int{},
		vacated: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "hecaton_registry_nodes_vacated_total", Help: "Nodes removed because their gateway fell silent.",
		}),
	}
	o.Metrics.MustRegister(l.vacated)
	return l, nil
}

// Run listens until ctx ends.
func (l *Listener) Run(ctx context.Context) error {
	timer := time.NewTimer(lookEvery)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
		if err := l.look(ctx); err != nil {
			l.log.WarnContext(ctx, "silent gateways could not be looked for", "error", err)
			clear(l.found)
		}
		timer.Reset(lookEvery)
	}
}

func (l *Listener) look(ctx context.Context) error {
	// What is removed has to be announced, so the end of ctx does not interrupt it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), passTimeout)
	defer cancel()
	silent, err := l.silences.Silent(ctx)
	if err != nil {
		return err
	}
	found := make(map[ids.GatewayID]int, len(silent))
	var problems []error
	for _, id := range silent {
		if found[id] = l.found[id] + 1; found[id] >= looks {
			problems = append(problems, l.vacate(ctx, id))
		}
	}
	l.found = found
	return errors.Join(problems...)
}

func (l *Listener) vacate(ctx context.Context, id ids.GatewayID) error {
	nodes := 0
	left := store.Vacated{More: true}
	for left.More {
		var err error
		left, err = l.silences.Vacate(ctx, id, vacateAtOnce)
		nodes += len(left.Events)
		l.vacated.Add(float64(len(left.Events)))
		l.announcer.Announce(ctx, left.Events)
		if err != nil {
			return err
		}
	}
	if nodes > 0 {
		l.log.WarnContext(ctx, "a gateway has fallen silent: its nodes are offline", "gateway", id, "nodes", nodes)
	}
	if left.Kept {
		return nil // they are looked at again
	}
	return l.silences.Forget(ctx, id)
}
