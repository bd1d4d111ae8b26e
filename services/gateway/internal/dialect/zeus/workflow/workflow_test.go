package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/fanout"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/dialect/zeus/workflow"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// cluster ends every workflow as told, and keeps what was sent and announced.
type cluster struct {
	none   error // no node can be chosen
	failed *errs.Error

	sent      router.Relayed
	announced []string
}

func (c *cluster) Choose(context.Context, router.Target) (ids.NodeID, error) { return "ext", c.none }

func (c *cluster) Relay(r router.Relayed, sink calls.Sink) *router.Pending {
	c.sent = r
	sink.Status(calls.Sent)
	if c.failed != nil {
		sink.Done(nil, c.failed)
	} else {
		sink.Done(frame.Wrap([]byte(`{"type":"task_complete"}`)), nil)
	}
	return nil
}

func (c *cluster) ToAll(t fanout.Topic, frame []byte) error {
	if t != fanout.User("ana") {
		return errors.New("another topic")
	}
	c.announced = append(c.announced, string(frame))
	return nil
}

func (c *cluster) runner() *workflow.Runner {
	return &workflow.Runner{Router: c, Announce: c, Logger: obs.OrDiscard(nil)}
}

func TestEndsThatNoNodeReportsAreAnnounced(t *testing.T) {
	t.Parallel()
	for reason, announced := range map[errs.Reason]string{
		errs.NodeNotConnected: "",
		errs.NodeBusy:         "",
		errs.ToolTimeout:      `{"type":"workflow_complete","task_id":null,"success":false,"error":"Workflow timed out"}`,
		errs.NodeDisconnected: `{"type":"workflow_complete","task_id":null,"success":false,"error":"Extension disconnected"}`,
	} {
		c := &cluster{failed: errs.New(reason, "because")}
		started, ended := 0, 0
		c.runner().Start(ids.Node{User: "ana", Node: "ext"}, nil, time.Time{}, workflow.Run{
			Started: func() { started++ },
			Done: func(_ *frame.Buffer, err *errs.Error) {
				if ended++; err.Reason != reason {
					t.Errorf("%s: ended with %v", reason, err)
				}
			},
		})
		if started != 1 || ended != 1 {
			t.Errorf("%s: started %d times, ended %d times", reason, started, ended)
		}
		if got := append(c.announced, "")[0]; got != announced {
			t.Errorf("%s: announced %q, want %q", reason, got, announced)
		}
	}
}

func TestExecute(t *testing.T) {
	t.Parallel()
	target := router.Target{User: "ana"}
	c := &cluster{}
	answer, err := c.runner().Execute(t.Context(), target, "wf", []byte(`{"a":1}`), time.Time{})
	if err != nil || answer.Node != "ext" || string(answer.Frame.Bytes()) != `{"type":"task_complete"}` {
		t.Errorf("got %+v, %v", answer, err)
	}
	if got := string(c.sent.Frame); got != `{"type":"execute_workflow","workflow_id":"wf","variables":{"a":1}}` {
		t.Errorf("sent %s", got)
	}
	if d := time.Until(c.sent.Deadline); d > workflow.DefaultTimeout || d < workflow.DefaultTimeout-time.Minute {
		t.Errorf("it may take %v", d)
	}
	if c.sent.Node != (ids.Node{User: "ana", Node: "ext"}) || c.sent.Type != nodev1.NodeType_NODE_TYPE_EXTENSION {
		t.Errorf("sent to %v, %v", c.sent.Node, c.sent.Type)
	}

	soon := time.Now().Add(time.Minute)
	ctx, cancel := context.WithDeadline(t.Context(), soon)
	defer cancel()
	if _, err := c.runner().Execute(ctx, target, "wf", nil, time.Now().Add(time.Hour)); err != nil || !c.sent.Deadline.Equal(soon) {
		t.Errorf("the deadline is %v, want the caller's, %v: %v", c.sent.Deadline, soon, err)
	}

	none := errs.New(errs.NodeNotConnected, "none")
	if _, err := (&cluster{none: none}).runner().Execute(t.Context(), target, "wf", nil, soon); !errors.Is(err, none) {
		t.Errorf("without a node: %v", err)
	}
	lost := errs.New(errs.HolderLost, "lost")
	if _, err := (&cluster{failed: lost}).runner().Execute(t.Context(), target, "wf", nil, soon); !errors.Is(err, lost) {
		t.Errorf("a lost holder: %v", err)
	}
}

func TestFrames(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"wf", `"quoted"`, "line\nbreak", ""} {
		var run struct {
			Type       string         `json:"type"`
			WorkflowID string         `json:"workflow_id"`
			Variables  map[string]int `json:"variables"`
		}
		if err := json.Unmarshal(workflow.Frame(text, nil), &run); err != nil || run.WorkflowID != text || run.Variables == nil {
			t.Errorf("%q became %s, %v", text, workflow.Frame(text, nil), err)
		}
		var end struct {
			Success bool    `json:"success"`
			TaskID  *string `json:"task_id"`
			Error   string  `json:"error"`
		}
		if err := json.Unmarshal(workflow.Failed(text), &end); err != nil || end.Success || end.TaskID != nil || end.Error != text {
			t.Errorf("%q became %s, %v", text, workflow.Failed(text), err)
		}
	}
}
