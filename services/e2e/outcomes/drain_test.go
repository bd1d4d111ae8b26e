package outcomes_test

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

// draining starts a cluster whose pods give calls in flight this long at a drain.
func draining(t *testing.T, gateways int, grace time.Duration) *cluster.Cluster {
	t.Helper()
	return cluster.Start(t, cluster.Options{Gateways: gateways, Gateway: func(_ int, cfg *gateway.Config) { cfg.DrainGrace = grace }})
}

// stop stops a pod as SIGTERM does, and returns where the time that it took will come.
func stop(t *testing.T, g *cluster.Gateway) <-chan time.Duration {
	took := make(chan time.Duration, 1)
	begun := time.Now()
	go func() {
		g.Stop(t)
		took <- time.Since(begun)
	}()
	return took
}

func stopped(t *testing.T, took <-chan time.Duration) time.Duration {
	t.Helper()
	select {
	case d := <-took:
		return d
	case <-time.After(40 * time.Second):
		t.Fatal("the pod did not stop")
		return 0
	}
}

func TestADrainLetsCallsInFlightFinish(t *testing.T) {
	t.Parallel()
	c := draining(t, 2, 20*time.Second)
	here, there := node(t, c.Gateways[0], "u", "here"), node(t, c.Gateways[1], "u", "there")
	idle := node(t, c.Gateways[0], "u", "idle")
	var atHere, atThere []<-chan cluster.Ended
	for _, n := range []*cluster.Client{here, there} {
		n.Register(`"max_concurrent_tasks":8`)
	}
	for _, w := range cluster.Ways {
		atHere = append(atHere,
			begin(t.Context(), w, c.Gateways[0], call("u", "here", time.Minute)),
			begin(t.Context(), w, c.Gateways[1], call("u", "here", time.Minute)))
		atThere = append(atThere, begin(t.Context(), w, c.Gateways[0], call("u", "there", time.Minute)))
	}
	open(t, c.Gateways[0], 8)
	open(t, c.Gateways[1], 4)
	took := stop(t, c.Gateways[0])
	testkit.Eventually(t, 5*time.Second, func() bool { return !c.Gateways[0].Ready(t) }, "the pod is not ready")
	if code := idle.Ended(); code != 1012 {
		t.Errorf("the socket of a node without calls closed with %d", code)
	}
	select {
	case d := <-took:
		t.Fatalf("the pod stopped after %v, with calls in flight", d)
	default:
	}
	for range 8 {
		n := here.Call()
		here.Answer(n, cluster.Text("done"))
	}
	for i, end := range atHere {
		answered(t, "call "+strconv.Itoa(i)+" of the pod's node", ended(t, end))
	}
	if code := here.Ended(); code != 1012 {
		t.Errorf("the node's socket closed with %d", code)
	}
	for range 4 {
		there.Answer(there.Call(), cluster.Text("done"))
	}
	for i, end := range atThere {
		answered(t, "call "+strconv.Itoa(i)+" that came through the pod", ended(t, end))
	}
	if d := stopped(t, took); d > 6*time.Second {
		t.Errorf("the drain took %v", d)
	}
	if !there.Open() {
		t.Error("the other pod's node was closed")
	}
	there.Silent()
}

func TestADrainingPodTakesNothingNew(t *testing.T) {
	t.Parallel()
	c := draining(t, 2, 20*time.Second)
	here, web := node(t, c.Gateways[0], "u", "here"), c.Gateways[0].Web(t, "u")
	here.Register(`"available_tools":["click"]`)
	there := node(t, c.Gateways[1], "u", "there")
	end := begin(t.Context(), unary(), c.Gateways[1], call("u", "here", time.Minute))
	running := here.Call()
	took := stop(t, c.Gateways[0])
	testkit.Eventually(t, 5*time.Second, func() bool { return !c.Gateways[0].Ready(t) }, "the pod is not ready")
	for _, path := range []string{"/ws/extension?client_id=user_u", "/ws/desktop?client_id=desktop_u", "/ws/web?user_id=u"} {
		_, err := c.Gateways[0].TryOpen(t, path)
		if err == nil || !strings.Contains(err.Error(), "503") {
			t.Errorf("%s: %v, want 503", path, err)
		}
	}
	probe := call("u", "here", time.Minute)
	probe.ToolName = "no such tool" // which the node is never asked for
	testkit.Eventually(t, 5*time.Second, func() bool {
		return cluster.Unary(t.Context(), c.Gateways[1], probe).Reason == "NODE_NOT_CONNECTED"
	}, "it is the node's turn to leave")
	for _, w := range cluster.Ways {
		if w.Name == "Calls" { // services of ours balance by themselves; who makes one call is served for as long as there is a server
			expect(t, w.Name+" to the other pod's node", w.Call(t.Context(), c.Gateways[0], call("u", "there", time.Minute)), "DRAINING")
		} else {
			end := begin(t.Context(), w, c.Gateways[0], call("u", "there", time.Minute))
			there.Answer(there.Call(), cluster.Text("done"))
			answered(t, w.Name+" to the other pod's node", ended(t, end))
		}
		expect(t, w.Name+" to the pod's node", w.Call(t.Context(), c.Gateways[0], call("u", "here", time.Minute)), "DRAINING")
		expect(t, w.Name+" from the other pod", w.Call(t.Context(), c.Gateways[1], call("u", "here", time.Minute)), "NODE_NOT_CONNECTED")
	}
	health, err := healthv1.NewHealthClient(c.Gateways[0].Conn()).Check(t.Context(), &healthv1.HealthCheckRequest{})
	if err != nil || health.GetStatus() != healthv1.HealthCheckResponse_NOT_SERVING {
		t.Errorf("health over gRPC: %v, %v", health, err)
	}
	if code := web.Ended(); code != 1012 {
		t.Errorf("the web client's socket closed with %d", code)
	}
	if r := c.Gateways[0].Get(t, "/health", ""); r.Status != http.StatusOK {
		t.Errorf("/health answers %d", r.Status)
	}
	here.Answer(running, cluster.Text("done"))
	answered(t, "the call in flight", ended(t, end))
	stopped(t, took)
	// The node comes back on another pod.
	named(t, c.Gateways[1], "u", "here")
	goesTo(t, &cluster.Cluster{Gateways: c.Gateways[1:]}, call("u", "here", time.Minute), "here")
}

func TestADrainIsBoundedByItsGracePeriod(t *testing.T) {
	t.Parallel()
	const grace = 2 * time.Second
	c := draining(t, 2, grace)
	here, there := node(t, c.Gateways[0], "u", "here"), node(t, c.Gateways[1], "u", "there")
	for _, n := range []*cluster.Client{here, there} {
		n.Register(`"max_concurrent_tasks":8`)
	}
	ends := map[string]<-chan cluster.Ended{}
	for _, w := range cluster.Ways {
		ends[w.Name+", the pod's node"] = begin(t.Context(), w, c.Gateways[0], call("u", "here", time.Minute))
		ends[w.Name+", the pod's node, from another"] = begin(t.Context(), w, c.Gateways[1], call("u", "here", time.Minute))
		ends[w.Name+", another pod's node"] = begin(t.Context(), w, c.Gateways[0], call("u", "there", time.Minute))
	}
	idle := newCalls(t, t.Context(), c.Gateways[0])
	idle.start(1, call("u", "nobody", time.Minute))
	idle.next()
	open(t, c.Gateways[0], 8)
	open(t, c.Gateways[1], 4)
	took := stop(t, c.Gateways[0])
	for name, end := range ends {
		if got := ended(t, end); got.Err != nil || got.Outcome != "unknown" {
			t.Errorf("%s: %v, want an unknown outcome", name, got)
		}
	}
	if d := stopped(t, took); d < grace || d > grace+2*time.Second {
		t.Errorf("the drain took %v, its grace period is %v", d, grace)
	}
	if code := here.Ended(); code != 1012 {
		t.Errorf("the node's socket closed with %d", code)
	}
	for range 4 { // the other node hears that nobody waits any more
		there.Call()
	}
	for range 4 {
		if notice := there.Call(); notice.Method != "notifications/cancelled" {
			t.Errorf("the other pod's node got %s", notice.Frame)
		}
	}
}

// A peer keeps its stream open for as long as it lives; that must not hold up a pod that has nothing left to do.
func TestAnIdleStreamOfCallsDoesNotHoldUpADrain(t *testing.T) {
	t.Parallel()
	c := draining(t, 2, 20*time.Second)
	n := node(t, c.Gateways[1], "u", "n")
	stream := newCalls(t, t.Context(), c.Gateways[0])
	stream.start(1, call("u", "n", time.Minute))
	running := n.Call()
	took := stop(t, c.Gateways[0])
	testkit.Eventually(t, 5*time.Second, func() bool { return !c.Gateways[0].Ready(t) }, "the pod is not ready")
	stream.start(2, call("u", "n", time.Minute))
	if resp := stream.next(); resp.GetId() != 2 || resp.GetFailure().GetReason() != "DRAINING" {
		t.Errorf("a new call on the stream: %v", resp)
	}
	n.Answer(running, cluster.Text("done"))
	if resp := stream.next(); resp.GetId() != 1 || resp.GetAnswer() == nil {
		t.Errorf("the call in flight: %v", resp)
	}
	if resp, err := stream.stream.Recv(); !errors.Is(errs.FromGRPC(err), errs.Draining) {
		t.Errorf("the end of the stream: %v, %v, want DRAINING", resp, err)
	}
	if d := stopped(t, took); d > 6*time.Second {
		t.Errorf("the drain took %v", d)
	}
}
