package agent

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// callTimeout is how long a call may take where its tool does not say (seed 000, "Tool Calls").
const callTimeout = 60 * time.Second

// outcome is how a call ended: answered, or with a failure.
type outcome struct {
	result  tool.Result
	failure *tool.Failure // nil where answered
	moved   bool          // not delivered, because what was approved is not there any more as it was shown
}

func unanswered(f *tool.Failure) outcome { return outcome{failure: f} }

// runCalls runs the calls of the last answer that are open, one after the other as the model wrote them; neighbours that are
// parallel run at once. What was started by a pod that is gone is not run again. What became of the last is left on the
// page: it is kept while the model is asked.
func (r *run) runCalls() error {
	for i := 0; i < len(r.calls); {
		c := &r.calls[i]
		switch {
		case c.State == store.Ended:
		case c.State == store.Started:
			r.endCall(c, unanswered(unknownAfterCrash))
		case c.Decision == approval.Rejected:
			r.endCall(c, unanswered(&tool.Failure{Outcome: tool.Rejected, Message: c.Reason}))
		case c.Decision == approval.Timeout:
			r.endCall(c, unanswered(&tool.Failure{Outcome: tool.TimedOut}))
		default:
			n := r.neighbours(i)
			if err := r.runTogether(r.calls[i : i+n]); err != nil {
				return err
			}
			if anyCall(r.calls[i:i+n], func(c *store.Call) bool { return c.State == store.Waiting }) {
				return nil // what comes after it waits, too
			}
			i += n
			continue
		}
		i++
	}
	return nil
}

// neighbours counts the calls from i on that run at once.
func (r *run) neighbours(i int) int {
	n := 1
	if !r.parallel(&r.calls[i]) {
		return n
	}
	for i+n < len(r.calls) && r.parallel(&r.calls[i+n]) {
		n++
	}
	return n
}

func (r *run) parallel(c *store.Call) bool {
	t := r.kit.toolOf(c)
	return t != nil && t.Spec().Parallel && c.State == store.Ready && c.Decision != approval.Rejected && c.Decision != approval.Timeout
}

// runTogether runs calls at once. That they have started is kept before any of them is sent, together with what became of
// the calls before.
func (r *run) runTogether(calls []store.Call) error {
	if r.ask.Err() != nil {
		if err := r.flush(r.hold); err != nil {
			return err
		}
		return context.Cause(r.ask)
	}
	for i := range calls {
		calls[i].State = store.Started
		r.set(calls[i])
	}
	if err := r.flush(r.hold); err != nil {
		return err
	}
	if len(calls) == 1 {
		r.settle(&calls[0], r.execute(&calls[0]))
		return nil
	}
	type ended struct {
		call *store.Call
		outcome
	}
	endings := make(chan ended, len(calls))
	for i := range calls {
		c := calls[i] // the goroutine's own
		go func() { endings <- ended{&calls[i], r.execute(&c)} }()
	}
	var failed error
	for range calls {
		e := <-endings
		r.settle(e.call, e.outcome)
		if failed == nil {
			failed = r.flush(r.hold)
		}
	}
	return failed
}

// settle ends a call that has run, or was not delivered. One that was approved for a connection which its node has no more is
// decided on again: nobody can tell the device that came back from another one.
func (r *run) settle(c *store.Call, out outcome) {
	if !out.moved {
		r.endCall(c, out)
		return
	}
	c.State, c.Decision, c.Decided = store.Waiting, "", time.Time{}
	r.set(*c)
}

// execute runs one call that has started.
func (r *run) execute(c *store.Call) outcome {
	t := r.kit.toolOf(c)
	switch {
	case t == nil && r.kit.unlisted != nil:
		return unanswered(r.kit.unlisted)
	case t == nil:
		return unanswered(&tool.Failure{Outcome: tool.NotDelivered, Message: "the tool is not there any more"})
	case !meant(c, t):
		return unanswered(&tool.Failure{Outcome: tool.NotDelivered, Message: "the tool that has this name now is another one"})
	case c.Decision == approval.Modified: // nobody has held it against the tool's definition
		if f := r.kit.check(c, t); f != nil {
			return unanswered(f)
		}
	}
	return r.e.call(r.trail.under(r.work), t, tool.Invocation{
		User: r.lease.User, Session: r.lease.Session, Run: r.lease.Run, CallID: c.ID, Args: c.Args, Node: c.Node, NodeMark: c.NodeMark,
		Approved: c.Decision != "",
	})
}

// meant reports whether a tool is the one that a call was planned for, and decided on: names go from one to another when
// servers and nodes come and go.
func meant(c *store.Call, t tool.Tool) bool {
	if _, placed := t.(tool.Placed); placed {
		return c.Node != "" // the tool itself knows whether it is that node's
	}
	return c.Node == "" && c.NodeMark == ownerOf(t.Spec())
}

// ownerOf is the mark of a tool that runs on no node: whose it is.
func ownerOf(s tool.Spec) string { return string(s.Layer) + "|" + s.Server }

// call calls a tool under its time limit, and survives its panics.
func (e *Engine) call(ctx context.Context, t tool.Tool, in tool.Invocation) (out outcome) {
	spec := t.Spec()
	limit := spec.Timeout
	if limit <= 0 {
		limit = callTimeout
	}
	began := time.Now()
	ctx, span := e.executing(ctx, spec, in.CallID)
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() {
		if p := recover(); p != nil { // p itself may hold what the user wrote
			e.log.ErrorContext(ctx, "a tool panicked", "layer", spec.Layer, "stack", string(debug.Stack()))
			out = unanswered(&tool.Failure{Outcome: tool.Unknown, Message: "the tool failed in an unexpected way"})
		}
		e.metrics.called(ctx, spec.Layer, began, out)
		executed(span, out)
	}()
	result, err := t.Call(bounded, in)
	if err != nil {
		var moved *tool.Moved
		return outcome{failure: failureOf(bounded, err), moved: errors.As(err, &moved)}
	}
	return outcome{result: result}
}

// failureOf says what is known of a call that ended with err under ctx.
func failureOf(ctx context.Context, err error) *tool.Failure {
	var failure *tool.Failure
	var choice *tool.Selection
	switch {
	case errors.As(err, &failure):
		return failure
	case errors.As(err, &choice):
		return selectionFailure
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &tool.Failure{Outcome: tool.Unknown, Reason: string(errs.ToolTimeout), Message: "no answer came in time"}
	case ctx.Err() != nil:
		return &tool.Failure{Outcome: tool.Unknown, Reason: string(errs.Cancelled), Message: "the call was cancelled"}
	}
	return &tool.Failure{Outcome: tool.Unknown, Message: err.Error()}
}
