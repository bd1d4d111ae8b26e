package workflow

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/fanout"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// DefaultTimeout is how long a workflow may run (docs/protocols/zeus-nodes.md#workflows).
const DefaultTimeout = 300 * time.Second

// Announcer writes frames to all who follow a topic.
type Announcer interface {
	ToAll(t fanout.Topic, frame []byte) error
}

// Router finds nodes and sends them workflows.
type Router interface {
	Choose(context.Context, router.Target) (ids.NodeID, error)
	Relay(router.Relayed, calls.Sink) *router.Pending
}

// Runner starts workflows.
type Runner struct {
	Router   Router
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
	return r.start(key, data, deadline, "", run)
}

func (r *Runner) start(key ids.Node, data []byte, deadline time.Time, traceparent string, run Run) *router.Pending {
	return r.Router.Relay(router.Relayed{
		Node: key, Type: nodev1.NodeType_NODE_TYPE_EXTENSION, Frame: data, Operation: "execute workflow", Deadline: deadline,
		Traceparent: traceparent,
	}, &sink{runner: r, user: key.User, run: run})
}

// Execute runs a workflow on an extension and waits for its end; the zero deadline stands for the [DefaultTimeout].
// variables is a JSON object; empty means {}. The answer's frame is the task_complete, which the caller releases. The error is
// an *errs.Error, or INVALID_ARGUMENT of the registry.
func (r *Runner) Execute(
	ctx context.Context, target router.Target, id string, variables []byte, deadline time.Time,
) (*router.Answer, error) {
	if deadline.IsZero() {
		deadline = time.Now().Add(DefaultTimeout)
	}
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	target.Type = nodev1.NodeType_NODE_TYPE_EXTENSION
	node, err := r.Router.Choose(ctx, target)
	if err != nil {
		return nil, err
	}
	type ending struct {
		completion *frame.Buffer
		err        *errs.Error
	}
	done := make(chan ending, 1)
	p := r.start(ids.Node{User: target.User, Node: node}, Frame(id, variables), deadline, obs.Traceparent(ctx), Run{
		Done: func(b *frame.Buffer, err *errs.Error) { done <- ending{b, err} },
	})
	var e ending
	select {
	case e = <-done:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			p.Cancel("cancelled by the caller")
		}
		e = <-done
	}
	if e.err != nil {
		return nil, e.err
	}
	return &router.Answer{Node: node, Frame: e.completion}, nil
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
		if e := s.runner.Announce.ToAll(fanout.User(s.user), Failed(Message(err))); e != nil {
			s.runner.Logger.Warn("web clients on other pods did not hear of a workflow's end", "error", e)
		}
	}
	s.run.Done(completion, err)
}
