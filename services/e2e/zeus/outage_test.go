package zeus_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// TestWebClientsHearThatTheBusIsAway: no request waits, no workflow starts, and everything works again once the bus is
// back.
func TestWebClientsHearThatTheBusIsAway(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	ext := c.Gateways[0].Extension(t, "u", "n")
	ext.Silent()
	near, far := c.Gateways[0].Web(t, "u"), c.Gateways[1].Web(t, "u")
	c.NATS.Stop()
	far.Send(`{"type":"get_workflows"}`)
	far.Expect(`{"type":"workflows_list","success":false,"error":"The cluster cannot route calls right now"}`)
	far.Send(`{"type":"execute_workflow","workflow_id":"wf"}`)
	far.Expect(`{"type":"workflow_complete","task_id":null,"success":false,"error":"The cluster cannot route calls right now"}`)
	// What needs no bus works.
	near.Send(`{"type":"get_workflows"}`)
	ext.Expect(`{"type":"get_workflows"}`)
	ext.Send(`{"type":"workflows_list","workflows":[]}`)
	near.Expect(`{"type":"workflows_list","workflows":[]}`)
	near.Send(`{"type":"execute_workflow","workflow_id":"wf"}`)
	ext.Expect(`{"type":"execute_workflow","workflow_id":"wf"}`)
	near.Expect(`{"type":"workflow_started","workflow_id":"wf"}`)
	ext.Send(`{"type":"task_complete","task_id":1}`)
	near.Expect(`{"type":"workflow_complete","task_id":1,"success":true,"result":null,"output":null}`)
	far.Silent()
	c.NATS.Start()
	for _, g := range c.Gateways {
		testkit.Eventually(t, 20*time.Second, func() bool {
			resp, err := http.Get("http://" + g.Admin + "/readyz")
			return err == nil && resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
		}, "the pod is on the bus again")
	}
	http.DefaultClient.CloseIdleConnections()
	far.Send(`{"type":"get_workflows"}`)
	ext.Expect(`{"type":"get_workflows"}`)
	ext.Send(`{"type":"workflows_list"}`)
	far.Expect(`{"type":"workflows_list"}`)
}

// TestWebClientsOfAPodFindItsExtensionWithoutTheRegistry, if they did not name a node.
func TestWebClientsOfAPodFindItsExtensionWithoutTheRegistry(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	ext := c.Gateways[0].Extension(t, "u", "n")
	ext.Silent()
	near, far := c.Gateways[0].Web(t, "u"), c.Gateways[1].Web(t, "u")
	c.Registries[0].Stop(t)
	near.Send(`{"type":"get_workflows"}`)
	ext.Expect(`{"type":"get_workflows"}`)
	far.Send(`{"type":"get_workflows"}`)
	far.Expect(`{"type":"workflows_list","success":false,"error":"The cluster cannot route calls right now"}`)
	far.Send(`{"type":"execute_workflow","workflow_id":"wf"}`)
	far.Expect(`{"type":"workflow_complete","task_id":null,"success":false,"error":"The cluster cannot route calls right now"}`)
	ext.Silent()
}

// TestAWorkflowThatItsCallerGivesUpEndsForEveryWebClient: the extension has no message for it, so it may still complete.
func TestAWorkflowThatItsCallerGivesUpEndsForEveryWebClient(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	ext := c.Gateways[0].Extension(t, "u", "n")
	ext.Silent()
	webs := []*cluster.Client{c.Gateways[0].Web(t, "u"), c.Gateways[1].Web(t, "u")}
	for _, g := range c.Gateways {
		ctx, cancel := context.WithCancel(t.Context())
		run := execute(ctx, t, g, &toolv1.ExecuteWorkflowRequest{UserId: "u", WorkflowId: "wf"})
		ext.Expect(`{"type":"execute_workflow","workflow_id":"wf","variables":{}}`)
		cancel()
		<-run.done
		for _, w := range webs {
			w.Expect(`{"type":"workflow_complete","task_id":null,"success":false,"error":"The call was cancelled"}`)
		}
		ext.Silent()
	}
	if _, err := c.Gateways[0].Tools.ExecuteWorkflow(t.Context(), &toolv1.ExecuteWorkflowRequest{UserId: "nobody", WorkflowId: "wf"}); !isReason(err, errs.NodeNotConnected, codes.FailedPrecondition) {
		t.Error(err)
	}
}
