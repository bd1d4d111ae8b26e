package target_test

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/hecaton-dev/hecaton/pkg/target"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
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
