package target_test

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/target"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestRoundRobinReachesEveryAddress(t *testing.T) {
	t.Parallel()
	for _, servers := range []int{1, 3} {
		counts := make([]atomic.Int32, servers)
		addrs := make([]string, servers)
		for i := range servers {
			ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			s := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
				counts[i].Add(1)
				return next(ctx, req)
			}))
			healthv1.RegisterHealthServer(s, health.NewServer())
			go func() { _ = s.Serve(ln) }()
			t.Cleanup(s.Stop)
			addrs[i] = ln.Addr().String()
		}
		addr, opts := target.RoundRobin(strings.Join(addrs, ", "))
		cc, err := grpc.NewClient(addr, append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
		if err != nil {
			t.Fatal(err)
		}
		client := healthv1.NewHealthClient(cc)
		for i := range counts {
			for n := 0; counts[i].Load() == 0; n++ {
				if _, err := client.Check(t.Context(), &healthv1.HealthCheckRequest{}); err != nil || n > 10_000 {
					t.Fatalf("server %d of %d was not reached: %v", i, servers, err)
				}
			}
		}
		_ = cc.Close()
	}
}

// A server that says that it drains gets no new calls, and is used again once it serves.
func TestHealthyLeavesOutWhoDrains(t *testing.T) {
	t.Parallel()
	const service = "x.v1.X"
	var addrs []string
	var states []*health.Server
	counts := make([]atomic.Int32, 2)
	for i := range counts {
		ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			counts[i].Add(1)
			return next(ctx, req)
		}))
		state := health.NewServer()
		state.SetServingStatus(service, healthv1.HealthCheckResponse_SERVING)
		healthv1.RegisterHealthServer(s, state)
		go func() { _ = s.Serve(ln) }()
		t.Cleanup(s.Stop)
		addrs, states = append(addrs, ln.Addr().String()), append(states, state)
	}
	addr, opts := target.Healthy(strings.Join(addrs, ","), service, "grpc.health.v1.Health/Check")
	cc, err := grpc.NewClient(addr, append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	defer cc.Close()
	client := healthv1.NewHealthClient(cc)
	// reached calls until the servers reached last are those that are wanted.
	reached := func(want string, first, second bool) {
		t.Helper()
		testkit.Eventually(t, 10*time.Second, func() bool {
			counts[0].Store(0)
			counts[1].Store(0)
			for range 10 {
				if _, err := client.Check(t.Context(), &healthv1.HealthCheckRequest{}); err != nil {
					t.Fatal(err)
				}
			}
			return (counts[0].Load() > 0) == first && (counts[1].Load() > 0) == second
		}, want)
	}
	reached("both are called", true, true)
	states[0].SetServingStatus(service, healthv1.HealthCheckResponse_NOT_SERVING)
	reached("only the other is called", false, true)
	states[0].SetServingStatus(service, healthv1.HealthCheckResponse_SERVING)
	reached("both are called again", true, true)
}
