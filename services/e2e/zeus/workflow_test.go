package zeus_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

const timedOut = `{"type":"workflow_complete","task_id":null,"success":false,"error":"Workflow timed out"}`

// running is an ExecuteWorkflow that has not returned.
type running struct {
	resp *toolv1.ExecuteWorkflowResponse
	err  error
	done chan struct{}
}

func execute(ctx context.Context, t *testing.T, g *cluster.Gateway, req *toolv1.ExecuteWorkflowRequest) *running {
	t.Helper()
	r := &running{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.resp, r.err = g.Tools.ExecuteWorkflow(ctx, req)
	}()
	t.Cleanup(func() { <-r.done })
	return r
}

func TestExecuteWorkflowReturnsTheCompletion(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	ext, web := c.Gateways[0].Extension(t, "u", "n"), c.Gateways[1].Web(t, "u")
	ext.Silent()
	for _, g := range c.Gateways {
		run := execute(t.Context(), t, g, &toolv1.ExecuteWorkflowRequest{UserId: "u", WorkflowId: "wf \"1\"", VariablesJson: []byte(`{"url": "https://example.com"}`)})
		ext.Expect(`{"type":"execute_workflow","workflow_id":"wf \"1\"","variables":{"url": "https://example.com"}}`)
		ext.Send(`{"type": "task_complete", "task_id": "t", "result": {"data": 1}, "output": "ok"}`)
		web.Expect(`{"type":"workflow_complete","task_id":"t","success":true,"result":{"data": 1},"output":"ok"}`)
		<-run.done
		if run.err != nil || !run.resp.GetSuccess() || run.resp.GetNodeId() != "n" ||
			string(run.resp.GetCompletionJson()) != `{"type": "task_complete", "task_id": "t", "result": {"data": 1}, "output": "ok"}` {
			t.Errorf("%v %v", run.resp, run.err)
		}
		run = execute(t.Context(), t, g, &toolv1.ExecuteWorkflowRequest{UserId: "u", WorkflowId: "wf", NodeId: "n"})
		ext.Expect(`{"type":"execute_workflow","workflow_id":"wf","variables":{}}`)
		ext.Send(`{"type":"task_complete","task_id":"t","error":"no"}`)
		web.Expect(`{"type":"workflow_complete","task_id":"t","success":false,"error":"no"}`)
		<-run.done
		if run.err != nil || run.resp.GetSuccess() || string(run.resp.GetCompletionJson()) != `{"type":"task_complete","task_id":"t","error":"no"}` {
			t.Errorf("%v %v", run.resp, run.err)
		}
	}
	web.Silent() // no workflow_started: no web client asked
}

func TestAWorkflowThatTimesOutEndsForEveryWebClient(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 3})
	ext := c.Gateways[0].Extension(t, "u", "n")
	ext.Silent()
	webs := []*cluster.Client{c.Gateways[0].Web(t, "u"), c.Gateways[1].Web(t, "u"), c.Gateways[2].Web(t, "u"), c.Gateways[2].Web(t, "u")}
	otherUser := c.Gateways[1].Web(t, "v")
	var runs []*running
	for _, g := range c.Gateways {
		runs = append(runs, execute(t.Context(), t, g, &toolv1.ExecuteWorkflowRequest{UserId: "u", WorkflowId: "wf", Timeout: durationpb.New(2 * time.Second)}))
		ext.Expect(`{"type":"execute_workflow","workflow_id":"wf","variables":{}}`)
	}
	for _, run := range runs {
		for _, w := range webs {
			w.Expect(timedOut)
		}
		if <-run.done; !isReason(run.err, errs.ToolTimeout, codes.DeadlineExceeded) {
			t.Error(run.err)
		}
	}
	// An end that comes later is still sent to the user's web clients, and to no others.
	ext.Send(`{"type":"task_complete","task_id":"late"}`)
	for _, w := range webs {
		w.Expect(`{"type":"workflow_complete","task_id":"late","success":true,"result":null,"output":null}`)
		w.Silent()
	}
	otherUser.Silent()
}

func TestAWorkflowWithoutAnExtensionFailsAtOnce(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	web := c.Gateways[0].Web(t, "u")
	c.Gateways[0].Desktop(t, "u", "d").Silent()
	for _, node := range []string{"", "d", "never seen"} {
		_, err := c.Gateways[1].Tools.ExecuteWorkflow(t.Context(), &toolv1.ExecuteWorkflowRequest{UserId: "u", NodeId: node, WorkflowId: "wf"})
		if !isReason(err, errs.NodeNotConnected, codes.FailedPrecondition) {
			t.Errorf("node %q: %v", node, err)
		}
	}
	web.Silent()
}

func TestAWorkflowEndsWhenItsExtensionDisconnects(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	for i, g := range c.Gateways {
		user := fmt.Sprint("u", i)
		ext, web := c.Gateways[0].Extension(t, user, "n"), c.Gateways[1].Web(t, user)
		ext.Silent()
		run := execute(t.Context(), t, g, &toolv1.ExecuteWorkflowRequest{UserId: user, WorkflowId: "wf"})
		ext.Next()
		ext.Cut()
		<-run.done
		if !isReason(run.err, errs.NodeDisconnected, codes.Aborted) {
			t.Error(run.err)
		}
		web.Expect(`{"type":"workflow_complete","task_id":null,"success":false,"error":"Extension disconnected"}`)
	}
}

// TestTheStartOfAWorkflowComesBeforeItsEnd holds for the web client that asked, however fast the extension is.
func TestTheStartOfAWorkflowComesBeforeItsEnd(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	for pod, g := range c.Gateways {
		// Each has a user of its own, or the next client would hear of the last one's end.
		user := fmt.Sprint("u", pod)
		ext, web := c.Gateways[0].Extension(t, user, "n"), g.Web(t, user)
		ext.Silent()
		for i := range 300 {
			web.Send(fmt.Sprintf(`{"type":"execute_workflow","workflow_id":"%d"}`, i))
			ext.Next()
			ext.Send(`{"type":"task_complete","task_id":1}`)
			if got, want := web.Next(), fmt.Sprintf(`{"type":"workflow_started","workflow_id":"%d"}`, i); got != want {
				t.Fatalf("pod %d, run %d: %s", pod, i, got)
			}
			web.Expect(`{"type":"workflow_complete","task_id":1,"success":true,"result":null,"output":null}`)
		}
		web.Cut()
	}
}

// isReason reports whether a gRPC error is ours, of a reason and its code.
func isReason(err error, reason errs.Reason, code codes.Code) bool {
	return status.Code(err) == code && errsIs(err, reason)
}
