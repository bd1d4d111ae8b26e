package lease_test

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/lease"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

// gateways is a store whose gateways are silent as told, each with this many batches of connections.
type gateways struct {
	batches int // static

	mu        sync.Mutex
	silent    []ids.GatewayID
	fail      error
	vacated   map[ids.GatewayID]int
	forgotten []ids.GatewayID
}

// say makes gateways silent, or the store fail.
func (g *gateways) say(fail error, silent ...ids.GatewayID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.silent, g.fail = silent, fail
}

// left returns what was done so far.
func (g *gateways) left() (vacated map[ids.GatewayID]int, forgotten int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.vacated), len(g.forgotten)
}

func (g *gateways) Silent(context.Context) ([]ids.GatewayID, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.silent, g.fail
}

func (g *gateways) Vacate(_ context.Context, id ids.GatewayID, _ int) (store.Vacated, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.vacated[id]++
	events := []*nodev1.NodeEvent{{UserId: string(id), Kind: nodev1.NodeEvent_KIND_OFFLINE}}
	return store.Vacated{Events: events, More: g.vacated[id] < g.batches}, nil
}

func (g *gateways) Forget(_ context.Context, id ids.GatewayID) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forgotten = append(g.forgotten, id)
	g.silent = nil
	return nil
}

// listen runs a listener on a clock of its own.
func listen(t *testing.T, g *gateways, said *recorder) {
	t.Helper()
	g.vacated = map[ids.GatewayID]int{}
	l, err := lease.NewListener(lease.ListenerOptions{Silences: g, Announcer: said, Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- l.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestNodesOfASilentGatewayLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, said := &gateways{silent: []ids.GatewayID{"hangs"}, batches: 3}, &recorder{}
		listen(t, g, said)
		testkit.Advance(4 * time.Second)
		if vacated, _ := g.left(); len(vacated) != 0 {
			t.Error("nodes leave before it is certain")
		}
		testkit.Advance(time.Second)
		if vacated, forgotten := g.left(); vacated["hangs"] != 3 || said.count() != 3 || forgotten != 1 {
			t.Errorf("%v vacated, %d announced, %d forgotten", vacated, said.count(), forgotten)
		}
	})
}

// All gateways are silent where the store or the registry was away, and report when it is back.
func TestAnOutageIsNoSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gateways{silent: []ids.GatewayID{"a", "b"}}
		listen(t, g, &recorder{})
		for range 10 {
			testkit.Advance(4 * time.Second)
			g.say(errors.New("away"), "a", "b")
			testkit.Advance(time.Second)
			g.say(nil, "a", "b")
		}
		g.say(nil)
		testkit.Advance(time.Second)
		g.say(nil, "a")
		testkit.Advance(4 * time.Second)
		if vacated, _ := g.left(); len(vacated) != 0 {
			t.Errorf("nodes left: %v", vacated)
		}
	})
}
