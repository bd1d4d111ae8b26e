package hostile_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

const (
	mib      = 1 << 20
	maxFrame = 10 * mib
)

// ofSize completes a frame to exactly size bytes with a text between head and tail.
func ofSize(size int, head, tail string) string {
	return head + strings.Repeat("0123456789abcdef", size/16+1)[:size-len(head)-len(tail)] + tail
}

func sum(s string) [32]byte { return sha256.Sum256([]byte(s)) }

// called is a CallTool that has not returned.
type called struct {
	answer *toolv1.Answer
	err    error
	took   time.Duration
	done   chan struct{}
}

func start(ctx context.Context, t testing.TB, g *cluster.Gateway, call *toolv1.Call) *called {
	t.Helper()
	r := &called{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		begin := time.Now()
		resp, err := g.Tools.CallTool(ctx, &toolv1.CallToolRequest{Call: call})
		r.answer, r.err, r.took = resp.GetAnswer(), err, time.Since(begin)
	}()
	t.Cleanup(func() { <-r.done })
	return r
}

func isReason(err error, reason errs.Reason) bool { return errors.Is(errs.FromGRPC(err), reason) }

// TestAResultOfTenMiBPasses: the frame has exactly the size that is allowed, the bus its default max_payload of 1 MiB.
func TestAResultOfTenMiBPasses(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	ext := c.Gateways[0].Extension(t, "u", "n")
	ext.Silent()
	for pod, g := range c.Gateways {
		for _, size := range []int{6 * mib, maxFrame} {
			r := start(t.Context(), t, g, &toolv1.Call{UserId: "u", NodeId: "n", ToolName: "t"})
			head := `{"jsonrpc":"2.0","id":"` + ext.Call().ID + `","result":`
			frame := ofSize(size, head+`{"content":[{"type":"image","data":"`, `","mimeType":"image/png"}]}}`)
			ext.Send(frame)
			<-r.done
			if want := frame[len(head) : size-1]; r.err != nil || sum(string(r.answer.GetResultJson())) != sum(want) {
				t.Errorf("pod %d, %d bytes: %d came, %v", pod, size, len(r.answer.GetResultJson()), r.err)
			}
		}
	}
}

// callOfSize is a call whose frame has exactly size bytes.
func callOfSize(size int) *toolv1.Call {
	around := len(`{"jsonrpc":"2.0","id":"550e8400-e29b-41d4-a716-446655440000","method":"tools/call","params":{"name":"t","arguments":}}`)
	return &toolv1.Call{UserId: "u", NodeId: "n", ToolName: "t", ArgumentsJson: []byte(ofSize(size-around, `{"text":"`, `"}`))}
}

func TestArgumentsOfNearlyTenMiBPass(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	ext := c.Gateways[0].Extension(t, "u", "n")
	ext.Silent()
	for pod, g := range c.Gateways {
		for _, size := range []int{6 * mib, maxFrame}[1-pod:] { // what crosses no pods has one way only
			call := callOfSize(size)
			r := start(t.Context(), t, g, call)
			got := ext.Call()
			if len(got.Frame) != size || sum(string(got.Params.Arguments)) != sum(string(call.GetArgumentsJson())) {
				t.Errorf("pod %d: %d bytes of %d came", pod, len(got.Frame), size)
			}
			ext.Answer(got, `{"ok":true}`)
			if <-r.done; r.err != nil || string(r.answer.GetResultJson()) != `{"ok":true}` {
				t.Error(r.err)
			}
		}
	}
}

func TestACallOfMoreThanTenMiBIsTooLarge(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	ext := c.Gateways[0].Extension(t, "u", "n")
	ext.Silent()
	for pod, g := range c.Gateways {
		call := callOfSize(maxFrame + 1)
		r := start(t.Context(), t, g, call)
		if <-r.done; !isReason(r.err, errs.TooLarge) {
			t.Errorf("pod %d: %v", pod, r.err)
		}
		rest := g.Post(t, "/api/node/browser/tool", "u", `{"tool_name":"t","tool_args":`+string(call.GetArgumentsJson())+`}`)
		if rest.Status != http.StatusConflict || rest.Body["reason"] != "TOO_LARGE" || rest.Body["outcome"] != "not_delivered" {
			t.Errorf("pod %d: %d %s", pod, rest.Status, rest.Raw)
		}
		// What is just small enough is too large for a node that wants params._meta.
		ext.Register(`"capabilities":["mcp_meta"]`)
		r = start(t.Context(), t, g, callOfSize(maxFrame))
		if <-r.done; !isReason(r.err, errs.TooLarge) {
			t.Errorf("pod %d: %v", pod, r.err)
		}
		ext.Silent()
		ext.Register("")
	}
}

func TestAFrameOfMoreThanTenMiBIsClosedWith1009(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	frame := []byte(ofSize(maxFrame+1, `{"type":"unknown","x":"`, `"}`))
	for kind, s := range sockets(t, c.Gateways[0], "v") {
		_ = s.TrySend(websocket.MessageText, frame) // the server may close before all is written
		if code := s.Ended(); code != 1009 {
			t.Errorf("%s: closed with %d", kind, code)
		}
	}
	binary := c.Gateways[0].Web(t, "v")
	_ = binary.TrySend(websocket.MessageBinary, frame)
	if code := binary.Ended(); code != 1009 {
		t.Errorf("a binary frame: closed with %d", code)
	}
	// A call that waits for such an answer hears that the node is gone.
	ext := c.Gateways[0].Extension(t, "u", "n")
	ext.Silent()
	r := start(t.Context(), t, c.Gateways[1], &toolv1.Call{UserId: "u", NodeId: "n", ToolName: "t"})
	id := ext.Call().ID
	_ = ext.TrySend(websocket.MessageText, []byte(ofSize(maxFrame+1, `{"jsonrpc":"2.0","id":"`+id+`","result":"`, `"}`)))
	if code := ext.Ended(); code != 1009 {
		t.Errorf("closed with %d", code)
	}
	if <-r.done; !isReason(r.err, errs.NodeDisconnected) {
		t.Error(r.err)
	}
}

func TestAFrameOfTenMiBInPiecesIsBoundedAsAWhole(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	r := dialRaw(t, c.Gateways[0], "/ws/web?user_id=u", "", nil)
	frame := ofSize(maxFrame, `{"type":"ping","x":"`, `"}`)
	r.write(masked(opText, []byte(frame[:4*mib])))
	r.write(masked(opContinuation, []byte(frame[4*mib:8*mib])))
	r.write(masked(final|opContinuation, []byte(frame[8*mib:])))
	r.expect(opText, pong)
	r.write(masked(opText, []byte(frame[:6*mib])))
	r.write(masked(opContinuation, []byte(frame[:6*mib])))
	if code := r.closed(); code != 1009 {
		t.Errorf("closed with %d", code)
	}
}

func TestLargeWorkflowFramesCrossPods(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	ext, web := c.Gateways[0].Extension(t, "u", "n"), c.Gateways[1].Web(t, "u")
	ext.Silent()
	ask := ofSize(maxFrame, `{"type":"get_workflows","x":"`, `"}`)
	web.Send(ask)
	if got := ext.Next(); sum(got) != sum(ask) {
		t.Errorf("%d bytes of the question came", len(got))
	}
	list := ofSize(maxFrame, `{"type":"workflows_list","x":"`, `"}`)
	ext.Send(list)
	if got := web.Next(); sum(got) != sum(list) {
		t.Errorf("%d bytes of the list came", len(got))
	}
	execute := ofSize(2*mib, `{"type":"execute_workflow","workflow_id":"wf","variables":{"x":"`, `"}}`)
	web.Send(execute)
	if got := ext.Next(); sum(got) != sum(execute) {
		t.Errorf("%d bytes of the workflow came", len(got))
	}
	web.Expect(`{"type":"workflow_started","workflow_id":"wf"}`)
	ext.Send(ofSize(6*mib, `{"type":"task_complete","task_id":1,"result":null,"output":"`, `"}`))
	complete := `{"type":"workflow_complete","task_id":1,"success":true,"result":null,"output":"`
	if got := web.Next(); !strings.HasPrefix(got, complete) || len(got)-len(complete) != 6*mib-len(`{"type":"task_complete","task_id":1,"result":null,"output":"`) {
		t.Errorf("%d bytes of the completion came: %.100s", len(got), got)
	}
}
