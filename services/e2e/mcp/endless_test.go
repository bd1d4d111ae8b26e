package mcp_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

// A client that lists without end, at both pods, is held to its user's share and told so; another user's lists are answered as before.
func TestAClientThatListsWithoutEnd(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Limits: true, Gateway: func(_ int, cfg *gateway.Config) {
		cfg.Limits.CallsPerSecond, cfg.Limits.CallsBurst = 20, 40
	}})
	for _, user := range []string{"ana", "eve"} {
		c.Gateways[0].Extension(t, user, "n1").Register(chrome)
	}
	done := make(chan struct{})
	var listed, limited, bare atomic.Int64
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				// Each page's cursor is a lie: it goes back to the beginning.
				r := newer(t, c.Gateways[i%2], "", "tools/list", `"cursor":"YWZ0ZXI6QQ"`, "", "X-User-Id", "eve")
				switch {
				case r.Status == http.StatusTooManyRequests && r.Header.Get("Retry-After") != "":
					limited.Add(1)
				case r.Status == http.StatusOK && r.at("result", "tools") != nil:
					listed.Add(1)
				default:
					bare.Add(1)
					t.Errorf("%d %s", r.Status, r.Raw)
				}
			}
		})
	}
	began := time.Now()
	for n := 0; limited.Load() == 0 || n < 10; n++ {
		if r := newer(t, c.Gateways[n%2], "", "tools/list", "", ""); r.Status != http.StatusOK || len(r.at("result", "tools").([]any)) != 3 {
			t.Fatalf("another user: %d %s", r.Status, r.Raw)
		}
		<-time.After(50 * time.Millisecond)
		if time.Since(began) > 20*time.Second {
			t.Fatalf("nobody is limited after %d lists", listed.Load())
		}
	}
	took := time.Since(began)
	close(done)
	work.Wait()
	if most := 2*40 + int64(20*(took+time.Second)/time.Second)*2; listed.Load() > most {
		t.Errorf("%d lists in %v, want at most %d", listed.Load(), took, most)
	}
}
