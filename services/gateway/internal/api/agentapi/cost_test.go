package agentapi_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/agentapi"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

// constant is what a reader may allocate beside four times the bytes that it reads.
const constant = 512 << 10

// FuzzBodiesCostTheirBytes: no body costs more than four times its bytes, and a constant.
func FuzzBodiesCostTheirBytes(f *testing.F) {
	for _, n := range []int{10, 5_000, 100_000} {
		for _, s := range []string{
			strings.Repeat(`{"z":`, n) + "1" + strings.Repeat("}", n),
			`{"message":"x","tools":[` + strings.Repeat(`{"type":"mcp"},`, n) + `{}]}`,
			`{"message":"x","chat_history":[` + strings.Repeat(`{"role":"user"},`, n) + `{}]}`,
			`{"message":"x",` + strings.Repeat(`"\u0061":{},`, n) + `"":1}`,
			`{"message":"x","tool_interrupt_config":{` + many(n, `"%d":{"enabled":true}`) + `}}`,
			`{"message":"x","tool_interrupt_config":{"a":{` + many(n, `"%d":{}`) + `}}}`,
			`{"message":"x","tools":[{"type":"mcp","headers":{` + many(n, `"%d":""`) + `}}]}`,
			`{"session_id":"x","tool_call_results":[` + strings.Repeat(`{"tool_args":{}},`, n) + `{}]}`,
			`{"mode":"x","allowlist":[` + strings.Repeat(`"",`, n) + `""]}`, `{"allowed":[` + strings.Repeat(`{},`, n) + `{}]}`, `{"allowlist":[` + strings.Repeat(`{},`, n) + `{}]}`, `{"args":[` + strings.Repeat(`[],`, n) + `1]}`,
			`{"headers":{` + many(n, `"%d":""`) + `}}`, `{"message":"` + strings.Repeat(`\n`, n) + `"}`,
		} {
			f.Add([]byte(s))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		readers := map[string]func(){
			"invoke": func() { _, _ = agentapi.ParseInvoke(arrived(body)) },
			"resume": func() { _, _ = agentapi.ParseResume(arrived(body)) },
		}
		for m, limit := range map[proto.Message]int{ // their routes take no more
			&agentv1.ApprovalSettings{}: agentapi.MaxSettings, &agentv1.SavedTool{}: edge.Small, &agentv1.ValidateMcpRequest{}: edge.Small,
			&agentv1.ExchangeOAuthRequest{}: edge.Small,
		} {
			if len(body) <= limit {
				readers[string(m.ProtoReflect().Descriptor().Name())] = func() { agentapi.ParseProto(arrived(body), m) }
			}
		}
		for name, reader := range readers {
			if cost := testkit.Allocated(reader); cost > testkit.MemoryLimit(4*len(body)+constant) {
				t.Errorf("%s allocates %d bytes for %d: %.80q", name, cost, len(body), body)
			}
		}
	})
}

// arrived is how a body comes in whose length nobody has said.
func arrived(body []byte) []byte {
	b, err := edge.ReadBody(&http.Request{ContentLength: -1, Body: io.NopCloser(bytes.NewReader(body))})
	if err != nil {
		panic(err) // memory does not fail
	}
	return b
}

// many repeats a member with different names.
func many(n int, member string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, member+",", i)
	}
	return strings.TrimSuffix(b.String(), ",")
}
