package rolling_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolclient"
	"github.com/hecaton-dev/hecaton/pkg/transport/target"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	registry "github.com/hecaton-dev/hecaton/services/node-registry/app"
)

const (
	users, nodesOfUser = 20, 6
	// delay is what load balancers have to notice, spread the time over which a gateway's connections are closed.
	delay, spread = 500 * time.Millisecond, 2 * time.Second
	patience      = time.Minute
)

// start starts a cluster whose gateways and orchestrators are processes.
func start(t *testing.T, gateways int) (*cluster.Cluster, *balancer) {
	t.Helper()
	c := cluster.Start(t, cluster.Options{
		NATSURL:  strings.Join(testkit.NATSCluster(t, 3), ","),
		Gateways: -1, GatewayProcesses: gateways, Registries: 2, Orchestrators: 2, OrchestratorProcesses: true,
		Gateway: func(_ int, cfg *gateway.Config) {
			for _, addr := range []*string{&cfg.HTTPAddr, &cfg.GRPCAddr, &cfg.AdminAddr} {
				*addr = fmt.Sprintf("127.0.0.1:%d", testkit.FreePort())
			}
			cfg.DrainDelay, cfg.DrainSpread, cfg.DrainGrace = delay, spread, 20*time.Second
		},
		Registry:     func(cfg *registry.Config) { cfg.DrainDelay = delay },
		Orchestrator: func(_ int, cfg *orchestrator.Config) { cfg.DrainDelay = delay },
	})
	return c, balance(t, c.Gateways...)
}

// roam connects a node through the balancer, as often as its socket is closed. joined is closed once it is there.
func roam(t *testing.T, lb *balancer, user, id string, answer func(cluster.ToolCall) string) (r *cluster.Roamer, joined <-chan struct{}) {
	there := make(chan struct{})
	once := sync.OnceFunc(func() { close(there) })
	query := url.Values{"client_id": {"user_" + user}, "node_id": {id}}
	r = cluster.Roam(t, func(i int) (*cluster.Client, error) {
		c, err := lb.gateway().TryDial(t, "/ws/extension", query, nil)
		if err != nil {
			return nil, err
		}
		// Its calls may come before the answer to this.
		if err := c.TrySend(websocket.MessageText, []byte(`{"type":"register","available_tools":["click"]}`)); err == nil {
			once()
		}
		return c, nil
	}, answer)
	return r, there
}

// load is everything that goes on while pods are replaced.
type load struct {
	t      *testing.T
	nodes  []*cluster.Roamer
	ledger *cluster.Ledger
	runs   *runs
	stops  []func()
}

// ways are those in which callers come: over REST through the balancer, over gRPC to all gateways by turns as any client of
// ours, and as the orchestrators do.
func ways(t *testing.T, c *cluster.Cluster) []cluster.Way {
	var addrs []string
	for _, g := range c.Gateways {
		addrs = append(addrs, g.GRPC)
	}
	plain := grpc.WithTransportCredentials(insecure.NewCredentials())
	addr, opts := target.Healthy(strings.Join(addrs, ","), toolv1.ToolService_ServiceDesc.ServiceName)
	conn, err := grpc.NewClient(addr, append(opts, plain)...)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := toolclient.Dial(toolclient.Options{Targets: addrs, Dial: []grpc.DialOption{plain}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		tools.Close()
		_ = conn.Close()
	})
	balanced := &cluster.Gateway{Tools: toolv1.NewToolServiceClient(conn)}
	return []cluster.Way{
		cluster.Ways[3],
		{Name: "gRPC", Call: func(ctx context.Context, _ *cluster.Gateway, call *toolv1.Call) cluster.Ended {
			return cluster.Unary(ctx, balanced, call)
		}},
		{Name: "toolclient", Call: func(ctx context.Context, _ *cluster.Gateway, call *toolv1.Call) cluster.Ended {
			answer, err := tools.Call(ctx, call)
			var e *errs.Error
			switch {
			case err == nil:
				return cluster.Ended{JSON: string(answer.GetResultJson())}
			case errors.As(err, &e):
				return cluster.Ended{Reason: string(e.Reason), Outcome: string(e.Class()), Message: e.Message}
			}
			return cluster.Ended{Err: err}
		}},
	}
}

func startLoad(t *testing.T, c *cluster.Cluster, lb *balancer) *load {
	t.Helper()
	user := func(n int) string { return fmt.Sprintf("user%d", n%users) }
	node := func(n int) string { return fmt.Sprintf("node%d", n/users%nodesOfUser) }
	l := &load{t: t, ledger: &cluster.Ledger{UserOf: user, NodeOf: node}}
	slow := func(call cluster.ToolCall) string {
		testkit.Pass(5 * time.Millisecond) // so that calls are in flight
		return l.ledger.See(call)
	}
	var joined []<-chan struct{}
	for n := range users * nodesOfUser {
		r, there := roam(t, lb, user(n), node(n), slow)
		l.nodes, joined = append(l.nodes, r), append(joined, there)
	}
	for _, there := range joined {
		select {
		case <-there:
		case <-time.After(patience):
			t.Fatal("not all nodes connect")
		}
	}
	all := ways(t, c)
	l.stops = append(l.stops, l.ledger.Load(t.Context(), 12, func(n, _ int) (cluster.Way, *cluster.Gateway) {
		return all[n%len(all)], lb.gateway()
	}))
	l.runs = startRuns(t, lb, 4)
	l.goesOn()
	return l
}

// goesOn waits until calls and runs end that began now.
func (l *load) goesOn() {
	l.t.Helper()
	calls, runs := l.ledger.Answered(), l.runs.ended()
	testkit.Eventually(l.t, patience, func() bool {
		return l.ledger.Answered() > calls+100 && l.runs.ended() > runs+8
	}, "calls are answered and runs end")
}

// closedSince returns when connections ended since then, and fails unless each was told to come back.
func (l *load) closedSince(since time.Time) (at []time.Time) {
	l.t.Helper()
	for _, n := range l.nodes {
		for _, c := range n.Closed() {
			if c.At.Before(since) {
				continue
			}
			if c.Code != 1012 {
				l.t.Errorf("a socket was closed with %d", c.Code)
			}
			at = append(at, c.At)
		}
	}
	slices.SortFunc(at, time.Time.Compare)
	return at
}

// spreadOut fails where too many of the connections that have ended did so at the same time.
func (l *load) spreadOut(at []time.Time) {
	l.t.Helper()
	const tick = spread / 10
	most := 0
	for i := range at {
		n := 0
		for _, other := range at[i:] {
			if other.Sub(at[i]) < tick {
				n++
			}
		}
		most = max(most, n)
	}
	if len(at) < 10 || most > len(at)*4/10 {
		l.t.Errorf("of %d connections %d ended within %s, where all had %s", len(at), most, tick, spread)
	}
	l.t.Logf("%d connections ended, at most %d of them within %s", len(at), most, tick)
}

// stop ends the load and reconciles its books.
func (l *load) stop() {
	l.t.Helper()
	for _, stop := range l.stops {
		stop()
	}
	l.runs.stop()
	l.ledger.Check(l.t) // every call was answered
}

func TestEveryPodIsReplacedUnderLoad(t *testing.T) {
	t.Parallel()
	c, lb := start(t, 3)
	l := startLoad(t, c, lb)
	for i := range c.Gateways {
		began := time.Now()
		c.RestartGatewayProcess(i)
		l.spreadOut(l.closedSince(began))
		testkit.Eventually(t, patience, func() bool { return c.Gateways[i].Ready(t) }, "gateway %d is back", i)
		l.goesOn()
	}
	others := time.Now()
	for i := range c.Registries {
		c.RestartRegistry(i)
		l.goesOn()
	}
	for _, o := range c.Orchestrators {
		o.Stop(t)
		l.goesOn()
		o.Start()
		l.goesOn()
	}
	if at := l.closedSince(others); len(at) > 0 {
		t.Errorf("%d nodes had to connect again for a pod that is no gateway", len(at))
	}
	l.stop()
}

// An operator drains a gateway: its clients move to the others, it still answers requests, and it has nothing left to do
// when it is stopped.
func TestADrainedGatewayServesOn(t *testing.T) {
	t.Parallel()
	c, lb := start(t, 2)
	l := startLoad(t, c, lb)
	leaving, stays := c.Gateways[0], c.Gateways[1]
	if s := leaving.DrainStatus(t); s.State != "serving" || s.ConnectionsLeft < 10 {
		t.Errorf("before: %+v", s)
	}
	began := time.Now()
	if s := leaving.Drain(t, "?spread="+spread.String()); s.State != "draining" {
		t.Errorf("it begins: %+v", s)
	}
	if leaving.Ready(t) {
		t.Error("a pod that drains is ready")
	}
	testkit.Eventually(t, patience, func() bool { return leaving.DrainStatus(t).State == "drained" }, "it is drained")
	if took := time.Since(began); took < spread*3/4 {
		t.Errorf("the drain took %s, its spread is %s", took, spread)
	}
	l.spreadOut(l.closedSince(began))
	l.goesOn()
	for _, name := range []string{"hecaton_gateway_drain_state 2", "hecaton_gateway_drain_connections 0"} {
		metric, want, _ := strings.Cut(name, " ")
		if got := leaving.Metric(t, metric); fmt.Sprint(got) != want {
			t.Errorf("%s is %v, want %s", metric, got, want)
		}
	}
	if _, err := leaving.TryOpen(t, "/ws/extension?client_id=user_x"); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("a new socket: %v", err)
	}
	alone, joined := roam(t, lb, "alone", "n", func(cluster.ToolCall) string { return cluster.Text("here") })
	<-joined
	for _, w := range cluster.Ways {
		got := w.Call(t.Context(), leaving, &toolv1.Call{UserId: "alone", NodeId: "n", ToolName: "click"})
		want := map[bool]string{false: "", true: "DRAINING"}[w.Name == "Calls"] // which is for services: they go elsewhere
		if got.Err != nil || got.Reason != want {
			t.Errorf("%s through the drained pod: %v", w.Name, got)
		}
	}
	stopped := time.Now()
	leaving.Process.Terminate(t)
	if took := time.Since(stopped); took > delay+spread {
		t.Errorf("the drained pod took %s to stop", took)
	}
	l.goesOn()
	if !stays.Ready(t) || len(alone.Closed()) > 0 {
		t.Errorf("the other pod is ready: %v; its node was closed with %v", stays.Ready(t), alone.Closed())
	}
	l.stop()
}
