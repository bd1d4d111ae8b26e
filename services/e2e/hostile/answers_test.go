package hostile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

const late = "hecaton_gateway_late_answers_total"

func TestAnAnswerWithNeitherResultNorErrorIsAnErrorOfTheNode(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	ext := c.Gateways[0].Extension(t, "u", "n")
	ext.Silent()
	for pod, g := range c.Gateways {
		for _, rest := range []string{``, `,"error":null`, `,"results":{}`, `,"Result":{},"ERROR":1`} {
			r := start(t.Context(), t, g, &toolv1.Call{UserId: "u", NodeId: "n", ToolName: "t"})
			ext.Send(`{"jsonrpc":"2.0","id":"` + ext.Call().ID + `"` + rest + `}`)
			if <-r.done; r.err != nil || !strings.Contains(string(r.answer.GetErrorJson()), "neither a result nor an error") {
				t.Errorf("pod %d, %s: %v %v", pod, rest, r.answer, r.err)
			}
		}
	}
}

// TestAnswersThatFitNoCallAreCountedAndTheCallGoesOn: the real answer still finds its call.
func TestAnswersThatFitNoCallAreCountedAndTheCallGoesOn(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	ext, other := c.Gateways[0].Extension(t, "u", "n"), c.Gateways[0].Extension(t, "u", "other")
	ext.Silent()
	for pod, g := range c.Gateways {
		before := metric(t, c.Gateways[0], late)
		r := start(t.Context(), t, g, &toolv1.Call{UserId: "u", NodeId: "n", ToolName: "t"})
		id := ext.Call().ID
		unfit := []string{`"unknown"`, `"` + strings.ToUpper(id) + `"`, `" ` + id + `"`, `""`, `7`, `-1.5e300`, `null`, `true`, `["` + id + `"]`, `{"id":"` + id + `"}`}
		for _, not := range unfit {
			ext.Send(`{"jsonrpc":"2.0","id":` + not + `,"result":"wrong"}`)
			ext.Send(`{"type":"mcp_response","request_id":` + not + `,"result":"wrong"}`)
		}
		other.Send(`{"jsonrpc":"2.0","id":"` + id + `","result":"another node's"}`)
		other.Send(`{"type":"mcp_response","request_id":"` + id + `","result":"another node's"}`)
		ext.Send(`{"jsonrpc":"2.0","result":"without an id"}`)
		ext.Send(`{"type":"mcp_response","result":"without an id"}`)
		ext.Silent()
		other.Silent()
		ext.Send(`{"jsonrpc":"2.0","id":"` + id + `","result":"right"}`)
		if <-r.done; r.err != nil || string(r.answer.GetResultJson()) != `"right"` {
			t.Errorf("pod %d: %v %v", pod, r.answer, r.err)
		}
		if n := metric(t, c.Gateways[0], late) - before; n != float64(2*len(unfit)+3) {
			t.Errorf("pod %d: %v answers were counted", pod, n)
		}
	}
}

func TestTheFirstOfTwoAnswersCounts(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	ext := c.Gateways[0].Extension(t, "u", "n")
	ext.Silent()
	for pod, g := range c.Gateways {
		before := metric(t, c.Gateways[0], late)
		r := start(t.Context(), t, g, &toolv1.Call{UserId: "u", NodeId: "n", ToolName: "t"})
		id := ext.Call().ID
		ext.Send(`{"jsonrpc":"2.0","id":"` + id + `","result":1}`)
		ext.Send(`{"jsonrpc":"2.0","id":"` + id + `","error":{"code":2,"message":"two"}}`)
		ext.Send(`{"type":"mcp_response","request_id":"` + id + `","result":3}`)
		if <-r.done; r.err != nil || string(r.answer.GetResultJson()) != `1` {
			t.Errorf("pod %d: %v %v", pod, r.answer, r.err)
		}
		ext.Silent()
		if n := metric(t, c.Gateways[0], late) - before; n != 2 {
			t.Errorf("pod %d: %v answers were counted", pod, n)
		}
	}
}

func TestAnAnswerAfterTheTimeoutIsCountedAndDropped(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	ext := c.Gateways[0].Extension(t, "u", "n")
	ext.Register(`"max_concurrent_tasks":1`)
	for pod, answer := range []string{`{"jsonrpc":"2.0","id":"%s","result":1}`, `{"type":"mcp_response","request_id":"%s","result":1}`} {
		before := metric(t, c.Gateways[0], late)
		r := start(t.Context(), t, c.Gateways[pod], &toolv1.Call{UserId: "u", NodeId: "n", ToolName: "t", Timeout: durationpb.New(fast)})
		id := ext.Call().ID
		if <-r.done; !isReason(r.err, errs.ToolTimeout) {
			t.Error(r.err)
		}
		if cancel := ext.Call(); cancel.Params.RequestID != id {
			t.Errorf("%s", cancel.Frame)
		}
		ext.Send(fmt.Sprintf(answer, id))
		testkit.Eventually(t, 10*time.Second, func() bool { return metric(t, c.Gateways[0], late)-before == 1 }, "pod %d: it is counted", pod)
		// It gave the call's place back, long before the grace of 5 s ends.
		r = start(t.Context(), t, c.Gateways[pod], &toolv1.Call{UserId: "u", NodeId: "n", ToolName: "t"})
		ext.Answer(ext.Call(), `2`)
		if <-r.done; r.err != nil || string(r.answer.GetResultJson()) != `2` || r.took > fast {
			t.Errorf("pod %d: %v %v %v", pod, r.answer, r.err, r.took)
		}
	}
}

// TestWhatANodeMakesOfJSONRPCIsSurvived: requests are refused, the rest is ignored.
func TestWhatANodeMakesOfJSONRPCIsSurvived(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	ext := c.Gateways[0].Extension(t, "u", "n")
	for _, id := range []string{`1`, `"a"`, `-7.5`, `null`} {
		ext.Send(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/list"}`)
		ext.Expect(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"Method not found: nodes answer calls, they make none"}}`)
	}
	for _, frame := range []string{
		`{"jsonrpc":"2.0"}`, `{"jsonrpc":"1.0"}`, `{"jsonrpc":2}`, `{"jsonrpc":"2.0","method":7}`, `{"jsonrpc":"2.0","method":""}`,
		`{"jsonrpc":"2.0","method":"notifications/progress"}`, `{"jsonrpc":"2.0","method":"notifications/progress","params":[]}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{}}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","type":"register","node_id":"x"}`, `{"result":1}`, `{"id":1}`, `{"error":1}`,
	} {
		ext.Send(frame)
	}
	ext.Silent()
	ext.Send(`{"type":"register"}`)
	ext.Expect(`{"type":"registered","node_id":"n","success":true}`)
}
