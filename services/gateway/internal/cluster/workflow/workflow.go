// Package workflow runs workflows on extensions for web clients and services, and tells every web client of the user how
// they ended (docs/protocols/zeus-nodes.md#workflows).
//
// The completion itself is announced by the pod that holds the extension, when task_complete comes; this package
// announces the ends that no node reports: a timeout, a lost connection, a lost pod.
package workflow

import (
	"log/slog"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// DefaultTimeout is how long a workflow may run (docs/protocols/zeus-nodes.md#workflows).
const DefaultTimeout = 300 * time.Second

// Announcer writes frames to all web clients of a user.
type Announcer interface {
	ToUser(user ids.UserID, frame []byte) error
}

// Starter sends a workflow to a node.
type Starter interface {
	StartWorkflow(key ids.Node, data []byte, deadline time.Time, sink calls.Sink) *router.Pending
}

// Runner starts workflows.
type Runner struct {
	Router   Starter
	Announce Announcer
	Logger   *slog.Logger
}

// Run is one workflow's end as its starter sees it.
type Run struct {
	// Started, if not nil, is called when the workflow's frame was handed to the extension's socket.
	Started func()
	// Done is called once: with the task_complete frame, whose reference it takes over, or an error.
	Done func(completion *frame.Buffer, err *errs.Error)
}

// Start sends an execute_workflow frame to a node. It does not wait.
func (r *Runner) Start(key ids.Node, data []byte, deadline time.Time, run Run) *router.Pending {
	return r.Router.StartWorkflow(key, data, deadline, &sink{runner: r, user: key.User, run: run})
}

type sink struct {
	runner *Runner
	user   ids.UserID
	run    Run
}

func (s *sink) Status(st calls.Status) {
	if st == calls.Sent && s.run.Started != nil {
		s.run.Started()
	}
}

func (s *sink) Progress([]byte) {}

func (s *sink) Done(completion *frame.Buffer, err *errs.Error) {
	if err != nil && err.Class() == errs.Unknown {
		if e := s.runner.Announce.ToUser(s.user, Failed(Message(err))); e != nil {
			s.runner.Logger.Warn("web clients on other pods did not hear of a workflow's end", "error", e)
		}
	}
	s.run.Done(completion, err)
}

// Message is what web clients read when a workflow did not complete.
func Message(err *errs.Error) string {
	switch err.Reason {
	case errs.NodeNotConnected:
		return "Extension not connected"
	case errs.ToolTimeout:
		return "Workflow timed out"
	case errs.NodeDisconnected:
		return "Extension disconnected"
	}
	return err.Reason.Title()
}

// Failed returns the workflow_complete frame of a workflow that no node completed.
func Failed(message string) []byte {
	b := []byte(`{"type":"workflow_complete","task_id":null,"success":false,"error":`)
	return append(jsonrpc.AppendString(b, message), '}')
}

// Frame returns an execute_workflow frame. variables is a JSON object; empty means {}.
func Frame(workflowID string, variables []byte) []byte {
	b := jsonrpc.AppendString([]byte(`{"type":"execute_workflow","workflow_id":`), workflowID)
	b = append(b, `,"variables":`...)
	if len(variables) == 0 {
		variables = []byte(`{}`)
	}
	return append(append(b, variables...), '}')
}
