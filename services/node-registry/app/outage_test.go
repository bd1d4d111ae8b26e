package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/app"
)

// failing returns what /readyz says is missing.
func failing(t testing.TB, r *replica) map[string]string {
	t.Helper()
	res, err := http.Get("http://" + r.AdminAddr() + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	var body struct{ Failing map[string]string }
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil {
		t.Fatal(err)
	}
	if (res.StatusCode == http.StatusOK) != (len(body.Failing) == 0) {
		t.Errorf("status %d with %v", res.StatusCode, body.Failing)
	}
	return body.Failing
}

// everyCall are all calls that need Redis.
func everyCall(t testing.TB, r *replica) map[string]error {
	t.Helper()
	ctx, out := t.Context(), map[string]error{}
	_, out["Register"] = r.Register(ctx, &nodev1.RegisterRequest{Registrations: []*nodev1.Registration{registration("ana", "ext", extension)}})
	_, out["Heartbeat"] = r.Heartbeat(ctx, &nodev1.HeartbeatRequest{GatewayId: "gw-1", Beats: []*nodev1.NodeBeat{{UserId: "ana", NodeId: "ext", Epoch: 1}}})
	_, out["Deregister"] = r.Deregister(ctx, &nodev1.DeregisterRequest{Nodes: []*nodev1.NodeRef{{UserId: "ana", NodeId: "ext", Epoch: 1}}})
	_, out["ListNodes"] = r.ListNodes(ctx, &nodev1.ListNodesRequest{UserId: "ana", IncludeOffline: true})
	_, out["BindSession"] = r.BindSession(ctx, &nodev1.BindSessionRequest{UserId: "ana", SessionId: "s", NodeId: "ext"})
	_, out["GetSession"] = r.GetSession(ctx, &nodev1.GetSessionRequest{UserId: "ana", SessionId: "s"})
	_, out["ResolveNode"] = r.ResolveNode(ctx, &nodev1.ResolveNodeRequest{UserId: "ana", SessionId: "s"})
	_, out["ReportGateway"] = r.ReportGateway(ctx, &nodev1.ReportGatewayRequest{GatewayId: "gw-1"})
	_, out["GetStats"] = r.GetStats(ctx, &nodev1.GetStatsRequest{})
	return out
}

func TestRedisStopped(t *testing.T) {
	t.Parallel()
	redis := testkit.OwnRedis(t)
	r := start(t, servers{redis: redis.URL(), nats: testkit.NATS(t)}, nil)
	testkit.Eventually(t, 10*time.Second, func() bool { return len(failing(t, r)) == 0 }, "the replica is ready")
	epoch := r.register(t, "ana", "ext")

	redis.Stop()
	began := time.Now()
	for name, err := range everyCall(t, r) {
		if e := errs.FromGRPC(err); status.Code(err) != codes.Unavailable || !errors.Is(e, errs.BusUnavailable) {
			t.Errorf("%s: %v", name, err)
		} else if strings.Contains(err.Error(), redis.Addr()) {
			t.Errorf("%s tells an address: %v", name, err)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("nine refusals took %v", took)
	}
	if got := failing(t, r); got["redis"] == "" {
		t.Errorf("ready without Redis: %v", got)
	}

	redis.Start() // empty
	if got := r.beat(t, &nodev1.NodeBeat{UserId: "ana", NodeId: "ext", Epoch: epoch}); got[0] != beatUnknown {
		t.Errorf("heartbeat: %v", got)
	}
	back := registration("ana", "ext", extension)
	back.Epoch = epoch
	if got := r.registerAs(t, back); got != epoch {
		t.Errorf("came back with epoch %d instead of %d", got, epoch)
	}
	for name, err := range everyCall(t, r) {
		if err != nil {
			t.Errorf("%s after the return: %v", name, err)
		}
	}
	if got := failing(t, r); len(got) != 0 {
		t.Errorf("not ready: %v", got)
	}
}

func TestRedisEmptied(t *testing.T) {
	t.Parallel()
	redis := testkit.OwnRedis(t)
	pods := replicas(t, servers{redis: redis.URL(), nats: testkit.NATS(t)}, 2, nil)
	user := testkit.Prefix(t)
	w := pods[1].watch(t, user)
	epoch := pods[0].register(t, user, "ext")
	w.want(online, user, "ext", epoch)
	redis.Flush()
	beat := &nodev1.NodeBeat{UserId: user, NodeId: "ext", Epoch: epoch}
	if got := pods[0].beat(t, beat); got[0] != beatUnknown {
		t.Errorf("heartbeat: %v", got)
	}
	back := registration(user, "ext", extension)
	back.Epoch = epoch
	pods[1].registerAs(t, back)
	w.want(online, user, "ext", epoch)
	if got := pods[0].beat(t, beat); got[0] != beatOK {
		t.Errorf("heartbeat: %v", got)
	}
}

// A Redis that takes connections and never answers costs a caller two seconds, not thirty.
func TestRedisHangs(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		var conns []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				for _, c := range conns {
					_ = c.Close()
				}
				return
			}
			conns = append(conns, c)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	r := start(t, servers{redis: "redis://" + l.Addr().String(), nats: testkit.NATS(t)}, nil)
	began := time.Now()
	_, err = r.ListNodes(t.Context(), &nodev1.ListNodesRequest{UserId: "ana"})
	wantUnavailable(t, err)
	beats := make([]*nodev1.NodeBeat, 10_000)
	for i := range beats {
		beats[i] = &nodev1.NodeBeat{UserId: numbered("user", i), NodeId: "n", Epoch: 1}
	}
	_, err = r.Heartbeat(t.Context(), &nodev1.HeartbeatRequest{GatewayId: "gw-1", Beats: beats})
	wantUnavailable(t, err)
	if took := time.Since(began); took > 6*time.Second {
		t.Errorf("took %v", took)
	}
	if got := failing(t, r); got["redis"] == "" {
		t.Errorf("ready: %v", got)
	}
}

func TestStats(t *testing.T) {
	t.Parallel()
	pods := replicas(t, own(t), 2, nil)
	report := func(pod *replica, id string, n int32, ttl time.Duration) {
		t.Helper()
		_, err := pod.ReportGateway(t.Context(), &nodev1.ReportGatewayRequest{GatewayId: id, Ttl: durationpb.New(ttl), Stats: &nodev1.GatewayStats{
			ExtensionConnections: n, DesktopConnections: 2 * n, WebConnections: 3 * n, PendingRequests: 4 * n,
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	get := func(pod *replica) *nodev1.GetStatsResponse {
		t.Helper()
		res, err := pod.GetStats(t.Context(), &nodev1.GetStatsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	report(pods[0], "gw-1", 1, time.Minute)
	report(pods[1], "gw-2", 10, 2*time.Second)
	for _, pod := range pods {
		if got := get(pod); got.GetGateways() != 2 || got.GetTotal().GetExtensionConnections() != 11 || got.GetTotal().GetDesktopConnections() != 22 ||
			got.GetTotal().GetWebConnections() != 33 || got.GetTotal().GetPendingRequests() != 44 {
			t.Errorf("stats: %v", got)
		}
	}
	report(pods[0], "gw-1", 2, time.Minute)
	testkit.Eventually(t, 2*time.Second, func() bool { return get(pods[0]).GetTotal().GetExtensionConnections() == 12 }, "an answer is at most a second old")
	testkit.Eventually(t, 10*time.Second, func() bool { return get(pods[0]).GetGateways() == 1 }, "a report ends")

	for _, ttl := range []time.Duration{-time.Second, 0, time.Microsecond} {
		_, err := pods[0].ReportGateway(t.Context(), &nodev1.ReportGatewayRequest{GatewayId: "gw-1", Ttl: durationpb.New(ttl)})
		if status.Code(err) != codes.InvalidArgument {
			t.Errorf("ttl %v: %v", ttl, err)
		}
	}
}

func TestHealthAndReflection(t *testing.T) {
	t.Parallel()
	r := start(t, own(t), nil)
	for _, service := range []string{"", nodev1.NodeRegistryService_ServiceDesc.ServiceName} {
		res, err := healthv1.NewHealthClient(r.conn).Check(t.Context(), &healthv1.HealthCheckRequest{Service: service})
		if err != nil || res.GetStatus() != healthv1.HealthCheckResponse_SERVING {
			t.Errorf("health of %q: %v, error %v", service, res, err)
		}
	}
	stream, err := reflectionv1.NewServerReflectionClient(r.conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	res, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var services []string
	for _, s := range res.GetListServicesResponse().GetService() {
		services = append(services, s.GetName())
	}
	if !slices.Contains(services, "hecaton.node.v1.NodeRegistryService") {
		t.Errorf("services: %v", services)
	}
}

func TestAdmin(t *testing.T) {
	t.Parallel()
	r := start(t, own(t), nil)
	testkit.Eventually(t, 10*time.Second, func() bool { return len(failing(t, r)) == 0 }, "the replica is ready")
	r.register(t, "ana", "ext")
	r.watch(t, "ana")
	for path, want := range map[string]string{
		"/livez": "alive", "/debug/pprof/": "goroutine",
		"/metrics": `hecaton_registry_registrations_total{outcome="registered"} 1`,
	} {
		res, err := http.Get("http://" + r.AdminAddr() + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if res.Body.Close(); err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s: status %d, error %v, want %q in\n%s", path, res.StatusCode, err, want, body)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestUnauthenticatedServicesAreRefused(t *testing.T) {
	t.Parallel()
	service := auth.ServiceAuth{Token: "a token of enough bytes"}
	r := start(t, own(t), func(c *app.Config) { c.Services = service })
	_, err := r.ListNodes(t.Context(), &nodev1.ListNodesRequest{UserId: "ana"})
	if status.Code(err) != codes.Unauthenticated {
		t.Errorf("a stranger: %v", err)
	}
	stream, err := r.WatchNodes(t.Context(), &nodev1.WatchNodesRequest{})
	if err == nil {
		_, err = stream.Recv()
	}
	if status.Code(err) != codes.Unauthenticated {
		t.Errorf("a stranger's watch: %v", err)
	}
	opts, err := service.DialOptions()
	if err != nil {
		t.Fatal(err)
	}
	friend := nodev1.NewNodeRegistryServiceClient(dial(t, r.GRPCAddr(), opts...))
	if _, err := friend.ListNodes(t.Context(), &nodev1.ListNodesRequest{UserId: "ana"}); err != nil {
		t.Errorf("a friend: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*app.Config){
		"nodes":   func(c *app.Config) { c.NodesPerUser = 0 },
		"lease":   func(c *app.Config) { c.Lease = 0 },
		"sweep":   func(c *app.Config) { c.SweepEvery = -1 },
		"session": func(c *app.Config) { c.SessionTTL = time.Microsecond },
		"traces":  func(c *app.Config) { c.Trace.Endpoint = "not a url" },
	} {
		var cfg app.Config
		if err := config.Defaults(&cfg); err != nil {
			t.Fatal(err)
		}
		change(&cfg)
		if _, err := app.New(cfg, app.Options{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	var cfg app.Config
	if err := config.Defaults(&cfg); err != nil {
		t.Fatal(err)
	}
	cfg.AdminAddr, cfg.RedisURL = "127.0.0.1:0", "nonsense://"
	a, err := app.New(cfg, app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Run(t.Context()); err == nil || !strings.Contains(fmt.Sprint(err), "redis") {
		t.Errorf("ran with a nonsense Redis: %v", err)
	}
}
