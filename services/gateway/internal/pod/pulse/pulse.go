// Package pulse is the pod's one clock for everything that connections need now and then: pings, the end of silent
// nodes and of tokens, heartbeats to the registry, signs of life for open calls, and the pod's statistics. One goroutine for all of
// them replaces several timers per connection.
package pulse

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
)

const (
	every = time.Second
	// beatEvery is how often a heartbeat of a node whose state does not change goes to the registry. A node is forgotten there after
	// 60 s, and a beat that did not get through is repeated every second: the registry may be away for half a minute. Half
	// of what presence costs Redis would be gained or lost with half or twice of it (docs/scaling.md).
	beatEvery = 30 * time.Second
	// reportTTL is how long the pod's statistics count.
	reportTTL = 5 * time.Second
)

// Holder renews registrations, closes nodes that have a successor, and keeps calls alive.
type Holder interface {
	Renew(context.Context, *hub.Node)
	Superseded(n *hub.Node, key ids.Node, epoch ids.Epoch)
	Sweep(n *hub.Node, now time.Time)
}

// Registry takes heartbeats.
type Registry interface {
	Heartbeat(context.Context, []*nodev1.NodeBeat) ([]nodev1.BeatResult, error)
	Report(ctx context.Context, stats *nodev1.GatewayStats, ttl time.Duration) (known bool, err error)
}

// Config is what a Pulse is made of.
type Config struct {
	Hub      *hub.Hub
	Holder   Holder
	Registry Registry
	// PingEvery is after how long a client is pinged that says nothing: the worker of a Manifest V3 extension sleeps after 30 s
	// without traffic.
	PingEvery time.Duration
	// SilenceLimit ends the connection of a node that sent nothing for so long (docs/protocols/zeus-nodes.md#heartbeat: 60 s).
	SilenceLimit time.Duration
	// Batch is called with the number of nodes whose heartbeats go to the registry together.
	Batch  func(nodes int)
	Logger *slog.Logger
}

// Pulse beats from Start until Close.
type Pulse struct {
	Config
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// Start begins to beat.
func Start(cfg Config) *Pulse {
	ctx, cancel := context.WithCancel(context.Background())
	p := &Pulse{Config: cfg, cancel: cancel}
	// Two loops: a registry that is slow to answer must not delay signs of life.
	p.work.Go(func() { repeat(ctx, p.vitals) })
	p.work.Go(func() { repeat(ctx, func(now time.Time) { p.presence(ctx, now) }) })
	return p
}

// BeatAll reports every node to the registry at the next beat. After an outage of the bus this shows at once which nodes
// connected to another pod meanwhile, since that pod could not fence this one.
func (p *Pulse) BeatAll() {
	nodes, _ := p.Hub.All()
	for _, n := range nodes {
		n.MissBeat()
	}
}

// Close stops and waits.
func (p *Pulse) Close() {
	p.cancel()
	p.work.Wait()
}

func repeat(ctx context.Context, f func(now time.Time)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			f(now)
		case <-ctx.Done():
			return
		}
	}
}

// vitals pings clients, ends silent nodes and those whose token is over, and keeps calls alive.
func (p *Pulse) vitals(now time.Time) {
	v := hub.Vitals{PingEvery: p.PingEvery, SilenceLimit: p.SilenceLimit, Sweep: p.Holder.Sweep}
	for _, n := range p.Hub.DueVitals(now) {
		n.Look(now, v)
	}
	for _, c := range p.Hub.Clients() {
		if !c.Conn.EndIfOver(now) {
			c.PingIfDue(now, p.PingEvery)
		}
	}
}

// presence tells the registry who is alive, and the statistics.
func (p *Pulse) presence(ctx context.Context, now time.Time) {
	known, err := p.Registry.Report(ctx, p.Hub.Counts(), reportTTL)
	if err != nil {
		p.Logger.Warn("the pod's statistics could not be reported to the registry", "error", err)
		return // heartbeats would fail as well
	}
	nodes := p.Hub.DueBeats(now)
	if !known { // the registry has lost its data, and this pod's nodes with them
		nodes, _ = p.Hub.All()
	}
	var due []*hub.Node
	var beats []*nodev1.NodeBeat
	for _, n := range nodes {
		if n.BeatDue(now, beatEvery) || !known && n.Epoch() != 0 {
			due = append(due, n)
			status, tasks := n.Load()
			key := n.Key()
			beats = append(beats, &nodev1.NodeBeat{
				UserId: string(key.User), NodeId: string(key.Node), Epoch: int64(n.Epoch()), Status: status, CurrentTasks: tasks,
			})
		}
	}
	if len(beats) == 0 {
		return
	}
	p.Batch(len(beats))
	results, err := p.Registry.Heartbeat(ctx, beats)
	if err != nil {
		p.Logger.Warn("heartbeats could not be reported to the registry", "nodes", len(beats), "error", err)
		for _, n := range due {
			n.MissBeat()
		}
		return
	}
	p.settle(ctx, due, beats, results)
}

// settle registers the nodes again that the registry lost, and closes those that have a successor. What supersedes a node whose
// registration was not answered may be that very registration: registering it again shows which it is.
func (p *Pulse) settle(ctx context.Context, nodes []*hub.Node, beats []*nodev1.NodeBeat, results []nodev1.BeatResult) {
	var renewals errgroup.Group
	renewals.SetLimit(renewAtOnce)
	for i, n := range nodes {
		switch {
		case results[i] == nodev1.BeatResult_BEAT_RESULT_SUPERSEDED && !n.Unregistered.Load():
			renewals.Go(func() error { // it waits while the node changes its name
				p.Holder.Superseded(n, ids.Node{User: n.User, Node: ids.NodeID(beats[i].GetNodeId())}, ids.Epoch(beats[i].GetEpoch()))
				return nil
			})
		case results[i] == nodev1.BeatResult_BEAT_RESULT_UNKNOWN || n.Unregistered.Load():
			renewals.Go(func() error {
				p.Holder.Renew(ctx, n)
				return nil
			})
		}
	}
	_ = renewals.Wait() // the functions return no errors
}

// renewAtOnce is how many nodes register again at the same time; they share the batches of requests.
const renewAtOnce = 512
