package zeus_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc/metadata"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

const (
	trace       = "4bf92f3577b34da6a3ce929d0e0e4736"
	traceparent = "00-" + trace + "-00f067aa0ba902b7-01"
)

// metaOf is the exact frame of a call to a node that wants params._meta, but for the span that is the parent.
func metaOf(c cluster.ToolCall, traced bool) string {
	meta := `"_meta":{"progressToken":"` + c.ID + `"`
	if traced {
		parent, _ := c.Params.Meta["traceparent"].(string)
		meta += `,"traceparent":"` + parent + `"`
	}
	return `{"jsonrpc":"2.0","id":"` + c.ID + `","method":"tools/call","params":{"name":"t","arguments":{"a":1},"session_id":"s",` + meta + `}}}`
}

func TestMetaGoesToNodesThatListTheCapability(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	with, without := c.Gateways[0].Extension(t, "u", "with"), c.Gateways[0].Extension(t, "u", "without")
	with.Register(`"capabilities":["screenshot","mcp_meta"]`)
	without.Register(`"capabilities":["screenshot","MCP_META","mcp_meta "]`)
	for pod, g := range c.Gateways {
		for _, traced := range []bool{true, false} {
			ctx := t.Context()
			if traced {
				ctx = metadata.AppendToOutgoingContext(ctx, "traceparent", traceparent)
			}
			req := func(node string) *toolv1.Call {
				return &toolv1.Call{UserId: "u", NodeId: node, SessionId: "s", ToolName: "t", ArgumentsJson: []byte(`{"a":1}`)}
			}
			r := call(ctx, t, g, req("with"))
			got := with.Call()
			if got.Frame != metaOf(got, traced) {
				t.Errorf("pod %d, traced %t: %s", pod, traced, got.Frame)
			}
			if parent := fmt.Sprint(got.Params.Meta["traceparent"]); traced && !strings.HasPrefix(parent, "00-"+trace+"-") {
				t.Errorf("pod %d: the parent is %s", pod, parent)
			}
			with.Answer(got, `{}`)
			<-r.done
			r = call(ctx, t, g, req("without"))
			got = without.Call()
			if want := `{"jsonrpc":"2.0","id":"` + got.ID + `","method":"tools/call","params":{"name":"t","arguments":{"a":1},"session_id":"s"}}`; got.Frame != want {
				t.Errorf("pod %d: %s", pod, got.Frame)
			}
			without.Answer(got, `{}`)
			<-r.done
		}
	}
}

func TestTheTraceOfAnHTTPCallerReachesTheNode(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	node := c.Gateways[0].Desktop(t, "u", "n")
	node.Register(`"capabilities":["mcp_meta"]`)
	for pod, g := range c.Gateways {
		for header, traced := range map[string]bool{traceparent: true, "": false, "garbage": false} {
			done := make(chan cluster.Response, 1)
			go func() {
				done <- g.Do(t, http.MethodPost, "/api/node/desktop/tool", "u", `{"tool_name":"t"}`, http.Header{"Traceparent": {header}})
			}()
			got := node.Call()
			parent, has := got.Params.Meta["traceparent"].(string)
			if got.Params.Meta["progressToken"] != got.ID || has != traced || traced && !strings.HasPrefix(parent, "00-"+trace+"-") {
				t.Errorf("pod %d, %q: %s", pod, header, got.Frame)
			}
			node.Answer(got, `{}`)
			if r := <-done; r.Status != http.StatusOK {
				t.Error(r)
			}
		}
	}
}

func TestProgressReachesTheCallerBeforeTheResult(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	node := c.Gateways[0].Extension(t, "u", "n")
	node.Register(`"capabilities":["mcp_meta"]`)
	for pod, g := range c.Gateways {
		stream, err := g.Tools.CallToolStream(t.Context(), &toolv1.CallToolStreamRequest{Call: &toolv1.Call{UserId: "u", ToolName: "t"}})
		if err != nil {
			t.Fatal(err)
		}
		got := node.Call()
		progress := func(token, rest string) {
			node.Send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + rest + `}}`)
		}
		id := `"` + got.ID + `"`
		progress(id, `,"progress":1,"total":4,"message":"one"`)
		progress(`"another"`, `,"progress":9`)
		progress(`7`, `,"progress":9`)
		progress(id, `,"progress":2.5`)
		for _, want := range []string{`progress:{progress:1 total:4 message:"one"}`, `progress:{progress:2.5}`} {
			event, err := stream.Recv()
			if err != nil || strings.ReplaceAll(event.String(), "  ", " ") != want {
				t.Fatalf("pod %d: %v %v", pod, event, err)
			}
		}
		node.Answer(got, `{"done":true}`)
		event, err := stream.Recv()
		if err != nil || string(event.GetAnswer().GetResultJson()) != `{"done":true}` || event.GetAnswer().GetNodeId() != "n" {
			t.Fatalf("pod %d: %v %v", pod, event, err)
		}
		progress(id, `,"progress":3`) // too late
		if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
	node.Silent()
}

func TestAStreamThatItsCallerLeavesIsCancelledAtTheNode(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	node := c.Gateways[0].Extension(t, "u", "n")
	node.Silent()
	for _, g := range c.Gateways {
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := g.Tools.CallToolStream(ctx, &toolv1.CallToolStreamRequest{Call: &toolv1.Call{UserId: "u", ToolName: "t"}}); err != nil {
			t.Fatal(err)
		}
		id := node.Call().ID
		cancel()
		node.Expect(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"` + id + `","reason":"cancelled by the caller"}}`)
	}
}
