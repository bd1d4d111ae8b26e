package lease

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

// Leases is the store as a Keeper needs it. Results are in the order of what was asked, each with its own error.
type Leases interface {
	Register(ctx context.Context, regs []store.Registration) []store.Registered
	Heartbeat(ctx context.Context, beats []store.Beat) []store.Beaten
	Deregister(ctx context.Context, gateway ids.GatewayID, refs []store.Ref) []store.Deregistered
}

// Announcer tells those who watch, in the order of events and without waiting for them.
type Announcer interface {
	Announce(ctx context.Context, events []*nodev1.NodeEvent)
}

// Keeper keeps connections in the store.
type Keeper struct {
	leases    Leases
	announcer Announcer

	registrations   *prometheus.CounterVec // by outcome
	beats           *prometheus.CounterVec // by result
	deregistrations prometheus.Counter
}

// NewKeeper returns a Keeper.
func NewKeeper(leases Leases, announcer Announcer, reg prometheus.Registerer) *Keeper {
	k := &Keeper{
		leases: leases, announcer: announcer,
		registrations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hecaton_registry_registrations_total", Help: "Registrations of nodes, by outcome.",
		}, []string{"outcome"}),
		beats: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hecaton_registry_heartbeats_total", Help: "Heartbeats of nodes, by result.",
		}, []string{"result"}),
		deregistrations: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "hecaton_registry_deregistrations_total", Help: "Nodes removed because their connection closed.",
		}),
	}
	k.registrations.WithLabelValues(failed)
	k.beats.WithLabelValues(failed)
	for value := range nodev1.RegisterResult_Outcome_name {
		if value != 0 {
			k.registrations.WithLabelValues(outcomeName(nodev1.RegisterResult_Outcome(value)))
		}
	}
	for value := range nodev1.BeatResult_name {
		if value != 0 {
			k.beats.WithLabelValues(resultName(nodev1.BeatResult(value)))
		}
	}
	reg.MustRegister(k.registrations, k.beats, k.deregistrations)
	return k
}

// changeTimeout bounds a change that its caller may have given up.
const changeTimeout = 10 * time.Second

// detached is a context that outlives the caller's, because a change that may have happened has to be announced.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), changeTimeout)
}

// failed labels what the store could not do.
const failed = "failed"

func outcomeName(o nodev1.RegisterResult_Outcome) string {
	return strings.ToLower(strings.TrimPrefix(o.String(), "OUTCOME_"))
}

func resultName(r nodev1.BeatResult) string {
	return strings.ToLower(strings.TrimPrefix(r.String(), "BEAT_RESULT_"))
}

// Register stores connections and announces the nodes that are new or changed.
func (k *Keeper) Register(ctx context.Context, regs []store.Registration) []store.Registered {
	ctx, cancel := detached(ctx)
	defer cancel()
	results := k.leases.Register(ctx, regs)
	events := make([]*nodev1.NodeEvent, 0, len(results))
	for _, r := range results {
		label := outcomeName(r.Outcome)
		if r.Err != nil {
			label = failed
		}
		k.registrations.WithLabelValues(label).Inc()
		if r.Event != nil {
			events = append(events, r.Event)
		}
	}
	k.announcer.Announce(ctx, events)
	return results
}

// Heartbeat renews leases and announces the nodes whose status changed.
func (k *Keeper) Heartbeat(ctx context.Context, beats []store.Beat) []store.Beaten {
	ctx, cancel := detached(ctx)
	defer cancel()
	results := k.leases.Heartbeat(ctx, beats)
	var events []*nodev1.NodeEvent
	for _, r := range results {
		label := resultName(r.Result)
		if r.Err != nil {
			label = failed
		}
		k.beats.WithLabelValues(label).Inc()
		if r.Event != nil {
			events = append(events, r.Event)
		}
	}
	k.announcer.Announce(ctx, events)
	return results
}

// Deregister removes connections that closed and announces the nodes that went.
func (k *Keeper) Deregister(ctx context.Context, gateway ids.GatewayID, refs []store.Ref) []store.Deregistered {
	ctx, cancel := detached(ctx)
	defer cancel()
	results := k.leases.Deregister(ctx, gateway, refs)
	events := make([]*nodev1.NodeEvent, 0, len(results))
	for _, r := range results {
		if r.Event != nil {
			k.deregistrations.Inc()
			events = append(events, r.Event)
		}
	}
	k.announcer.Announce(ctx, events)
	return results
}
