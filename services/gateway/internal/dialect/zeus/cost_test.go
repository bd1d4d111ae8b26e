package zeus

import (
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// FuzzFramesCostTheirBytes: what is made of a frame takes no more than four times its bytes, and a constant.
func FuzzFramesCostTheirBytes(f *testing.F) {
	const constant = 512 << 10
	for _, s := range samples {
		f.Add([]byte(s))
	}
	for _, n := range []int{4_000, 40_000} {
		for _, s := range []string{
			`{"type":"register","available_tools":[` + strings.Repeat(`"",`, n) + `""]}`, `{"type":"register","capabilities":[` + strings.Repeat(`"ab",`, n) + `""]}`,
			`{"type":"register","tools":[` + strings.Repeat(`{"name":"a"},`, n/100) + `0]}`,
			`{"type":"register","tools":[` + strings.Repeat(`{"name":"a","inputSchema":{"type":"object","properties":{"`+strings.Repeat("a", 1000)+`":{}}}},`, n/100) + `0]}`,
			`{"type":"register","tools":[{"name":"a","inputSchema":{"type":"object","enum":[` + strings.Repeat(`{"":0},`, n/10) + `0]}}]}`,
			`{"type":"execute_workflow","workflow_id":"x","variables":{` + strings.Repeat(`"":1,`, n) + `"":1}}`,
			`{"type":"task_complete",` + strings.Repeat(`"\n":1,`, n) + `"result":{}}`, `{"type":"mcp_response","error":"` + strings.Repeat(`\n`, n) + `"}`,
			`{"type":` + strings.Repeat(`{"z":`, n) + `1` + strings.Repeat(`}`, n) + `}`,
		} {
			f.Add([]byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		cost := testkit.Allocated(func() {
			skimmed, err := jsonrpc.Skim(b)
			if err != nil {
				malformed(err)
				return
			}
			switch string(jsonrpc.Text(skimmed.Type)) {
			case "register":
				_, _ = parseRegister(b, extension, "current")
			case "heartbeat", "status":
				_, _, _ = parseStatus(b, nodev1.NodeStatus_NODE_STATUS_ONLINE, 0)
			case "execute_workflow":
				_, _ = parseExecute(b)
			case "task_complete":
				workflowComplete(b)
			case "mcp_response":
				legacyAnswer(skimmed)
			}
		})
		if cost > testkit.MemoryLimit(4*len(b)+constant) {
			t.Errorf("%d bytes for %d: %.80q", cost, len(b), b)
		}
	})
}
