package hostile_test

import (
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// TestAGRPCMessageIsReadOnceItsSenderIsKnown: a call without the token is refused by its header, and the pod reads nothing of
// the megabytes behind it.
func TestAGRPCMessageIsReadOnceItsSenderIsKnown(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: -1, GatewayProcesses: 1, Gateway: withTokens})
	g := c.Gateways[0]
	large := []byte(`{"x":"` + strings.Repeat("x", 9*mib) + `"}`)
	before := metric(t, g, "go_memstats_alloc_bytes_total")
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			_, err := g.Tools.CallTool(t.Context(), &toolv1.CallToolRequest{Call: &toolv1.Call{UserId: "u", ToolName: "t", ArgumentsJson: large}})
			if status.Code(err) != codes.Unauthenticated {
				t.Errorf("%v", err)
			}
		})
	}
	calls.Wait()
	if cost := metric(t, g, "go_memstats_alloc_bytes_total") - before; cost > float64(testkit.MemoryLimit(9*mib)) {
		t.Errorf("%.0f bytes were allocated for what nobody should read", cost)
	}
}
