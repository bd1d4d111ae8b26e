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

// callTimeout is how long a call may take where its tool does not say (docs/protocols/zeus-nodes.md#calls).
const callTimeout = 60 * time.Second

// outcome is how a call ended: answered, or with a failure.
type outcome struct {
	result  tool.Result
	failure *tool.Failure // nil where answered
	left    error         // why a sub-agent goes on with it later; then it has not ended
	moved   bool          // not delivered, because what was approved is not there any more as it was shown
}

func unanswered(f *tool.Failure) outcome { return outcome{failure: f} }

// runCalls runs the calls of the last answer that are open, one after the other as the model wrote them; neighbours that are
// parallel run at once. What was started by a pod that is gone is not run again, but a sub-agent goes on from where it was.
// What became of the last is left on the page: it is kept while the model is asked. The error is errRests where a sub-agent
// waits for somebody.
func (t *thread) runCalls() error {
	for i := 0; i < len(t.calls); {
		c := &t.calls[i]
		switch {
		case c.State == store.Ended:
		case c.State == store.Started && t.tasks[c.ID] == nil:
			t.endCall(c, unanswered(unknownAfterCrash))
		case c.Decision == approval.Rejected:
			t.endCall(c, unanswered(&tool.Failure{Outcome: tool.Rejected, Message: c.Reason}))
		case c.Decision == approval.Timeout:
			t.endCall(c, unanswered(&tool.Failure{Outcome: tool.TimedOut}))
		default:
			together, next := t.neighbours(i)
			if err := t.runTogether(together); err != nil {
				return err
			}
			if anyCall(t.calls[i:next], waits) {
				return nil // what comes after it waits, too
			}
			i = next
			continue
		}
		i++
	}
	return nil
}

// neighbours returns the calls from i on that run at once, and where those after them begin.
func (t *thread) neighbours(i int) (together []*store.Call, next int) {
	together, next = []*store.Call{&t.calls[i]}, i+1
	if !t.parallel(&t.calls[i]) {
		return together, next
	}
	for ; next < len(t.calls); next++ {
		switch c := &t.calls[next]; {
		case c.State == store.Ended:
		case t.parallel(c):
			together = append(together, c)
		default:
			return together, next
		}
	}
	return together, next
}

func (t *thread) parallel(c *store.Call) bool {
	of := t.kit.toolOf(c)
	return of != nil && of.Spec().Parallel && (c.State == store.Ready || t.tasks[c.ID] != nil) &&
		c.Decision != approval.Rejected && c.Decision != approval.Timeout
}

// runTogether runs calls at once. That they have started is kept before any of them is sent, together with what became of
// the calls before.
func (t *thread) runTogether(calls []*store.Call) error {
	if t.ask.Err() != nil {
		if err := t.flush(t.hold); err != nil {
			return err
		}
		return context.Cause(t.ask)
	}
	for _, c := range calls {
		if c.State == store.Started { // by the pod before
			continue
		}
		c.State = store.Started
		t.set(*c)
		if t.does(c) {
			t.assign(c)
		}
	}
	if err := t.flush(t.hold); err != nil {
		return err
	}
	defer t.dismiss(calls)
	if len(calls) == 1 {
		return t.settle(calls[0], t.execute(calls[0]))
	}
	type ended struct {
		call *store.Call
		outcome
	}
	endings := make(chan ended, len(calls))
	for _, c := range calls {
		own := *c // the goroutine's
		go func() { endings <- ended{c, t.execute(&own)} }()
	}
	var failed, left error
	for range calls {
		e := <-endings
		if err := t.settle(e.call, e.outcome); left == nil || errors.Is(left, errRests) && err != nil {
			left = err
		}
		if failed == nil {
			failed = t.flush(t.hold)
		}
	}
	if failed != nil {
		return failed
	}
	return left
}

// settle ends a call that has run, or was not delivered. One that was approved for a connection which its node has no more is
// decided on again: nobody can tell the device that came back from another one. The error is why a sub-agent leaves its call
// as it is.
func (t *thread) settle(c *store.Call, out outcome) error {
	switch {
	case out.left != nil:
		return out.left
	case out.moved:
		c.State, c.Decision, c.Decided = store.Waiting, "", time.Time{}
		t.set(*c)
	default:
		t.endCall(c, out)
	}
	return nil
}

// execute runs one call that has started.
func (t *thread) execute(c *store.Call) outcome {
	of := t.kit.toolOf(c)
	switch {
	case of == nil && t.kit.unlisted != nil:
		return unanswered(t.kit.unlisted)
	case of == nil:
		return unanswered(&tool.Failure{Outcome: tool.NotDelivered, Message: "the tool is not there any more"})
	case !meant(c, of):
		return unanswered(&tool.Failure{Outcome: tool.NotDelivered, Message: "the tool that has this name now is another one"})
	case c.Decision == approval.Modified: // nobody has held it against the tool's definition
		if f := t.kit.check(c, of); f != nil {
			return unanswered(f)
		}
	}
	return t.e.call(t.under(t.work), of, tool.Invocation{
		User: t.lease.User, Session: t.lease.Session, Run: t.lease.Run, CallID: c.ID, Args: c.Args, Node: c.Node, NodeMark: c.NodeMark,
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
		if out.left == nil {
			e.metrics.called(ctx, spec.Layer, began, out)
		}
		executed(span, out)
	}()
	result, err := t.Call(bounded, in)
	if err != nil {
		var left *leftError
		if errors.As(err, &left) {
			return outcome{left: left.why}
		}
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
	return &tool.Failure{Outcome: tool.Unknown, Message: said(err)}
}
