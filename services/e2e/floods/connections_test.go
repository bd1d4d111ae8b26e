package floods_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

// manyConnects lets web clients come as fast as they can, so that only their number counts.
func manyConnects(_ int, cfg *gateway.Config) {
	cfg.Limits.ConnectsPerSecond = 0
	cfg.Limits.WebSockets = 16
}

// openWeb opens web clients through all pods at once, and returns those that were let in.
func openWeb(t *testing.T, gateways []*cluster.Gateway, user string, n int) []*cluster.Client {
	t.Helper()
	var mu sync.Mutex
	var in []*cluster.Client
	var work sync.WaitGroup
	for i := range n {
		work.Go(func() {
			c, err := gateways[i%len(gateways)].TryOpen(t, "/ws/web?user_id="+user)
			if err != nil {
				if !strings.Contains(err.Error(), "429") {
					t.Error(err)
				}
				return
			}
			mu.Lock()
			defer mu.Unlock()
			in = append(in, c)
		})
	}
	work.Wait()
	return in
}

// own is what each pod gives of 16 places without asking.
const own = 1

func TestWebClientsOfOneUserAreCountedInAllPods(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Limits: true, Gateway: manyConnects})
	in := openWeb(t, c.Gateways, "flood", 80)
	if len(in) < 14 || len(in) > 16+2*own {
		t.Errorf("%d of 80 web clients were let in, where 16 may be", len(in))
	}
	if others := openWeb(t, c.Gateways, "calm", 4); len(others) != 4 {
		t.Errorf("another user has %d web clients of 4", len(others))
	}
	// A place that is given back is had in the other pod.
	for _, client := range in {
		client.Close()
	}
	testkit.Eventually(t, 10*time.Second, func() bool { return len(openWeb(t, c.Gateways[1:], "flood", 1)) == 1 }, "there is room again")
}

func TestAKilledPodLosesItsPlaces(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Limits: true, Gateways: 1, GatewayProcesses: 1, Gateway: manyConnects})
	if in := openWeb(t, c.Gateways[1:], "ana", 40); len(in) != 16 {
		t.Fatalf("%d web clients were let in, where 16 may be", len(in))
	}
	if in := openWeb(t, c.Gateways[:1], "ana", 10); len(in) > own {
		t.Fatalf("%d more in the other pod", len(in))
	}
	c.Gateways[1].Process.Kill()
	testkit.Eventually(t, 30*time.Second, func() bool { return len(openWeb(t, c.Gateways[:1], "ana", 2)) > 0 }, "the other pod has the places")
}

func TestWhoReconnectsAllTheTimeIsHeldUp(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Limits: true})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	var in, out atomic.Int64
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			for ctx.Err() == nil {
				// The same node each time, so that only how often it comes counts.
				client, err := c.Gateways[i%2].TryOpen(t, fmt.Sprintf("/ws/extension?client_id=user_flood&node_id=n%d", i))
				if err != nil {
					out.Add(1)
					continue
				}
				in.Add(1)
				client.Cut()
			}
		})
	}
	work.Wait()
	// 30 at once in each pod at worst, and 10 a second.
	if n := in.Load(); n < 30 || n > 2*30+4*10 || out.Load() == 0 {
		t.Errorf("%d connections were let in, %d refused", n, out.Load())
	}
	serve(t, c.Gateways[0], "calm")
}

func TestFailedLoginsOfOneAddressAreAnsweredShort(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Limits: true, Gateways: 1, Gateway: func(_ int, cfg *gateway.Config) {
		cfg.Limits.FailedLoginsPerSecond, cfg.Limits.FailedLoginsBurst = 1, 5
	}})
	g := c.Gateways[0]
	statuses := map[int]int{}
	for range 20 {
		statuses[g.Get(t, "/api/node/devices", "").Status]++
	}
	if statuses[http.StatusTooManyRequests] < 12 || statuses[http.StatusUnauthorized]+statuses[http.StatusBadRequest] < 5 {
		t.Errorf("answered %v", statuses)
	}
	testkit.Eventually(t, 10*time.Second, func() bool { // one a second is let through
		_, err := g.TryOpen(t, "/ws/web")
		return err != nil && strings.Contains(err.Error(), "429")
	}, "a socket that names no user is answered short")
	// Who says who it is is served, from the same address.
	if r := g.Get(t, "/api/node/devices", "ana"); r.Status != http.StatusOK {
		t.Errorf("a good login: %d %s", r.Status, r.Raw)
	}
	serve(t, g, "ana")
}
