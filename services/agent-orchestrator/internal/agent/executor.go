package agent

import (
	"context"
	"errors"
	"time"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// executor runs the open calls of a conversation's last answer, on the goroutine that owns the conversation. Calls that run
// at the same time have goroutines of their own, for which it waits: each works on a copy of its call.
type executor struct{ conv *conversation }

// runOpen runs the open calls one after the other, as the model wrote them; neighbours that are parallel run at the same
// time. What a pod that is gone has started is not run again, but a sub-agent goes on from where it was. The result of the
// last call is left in the batch: it is written while the model is asked. The error is errWaits if a sub-agent waits for a
// decision.
func (x executor) runOpen() error {
	conv := x.conv
	for i := 0; i < len(conv.calls); {
		c := &conv.calls[i]
		switch {
		case c.State == store.Ended:
		case c.State == store.Started && conv.subAgents[c.ID] == nil:
			conv.endCall(c, failed(unknownAfterCrash))
		case c.Decision == approval.Rejected:
			conv.endCall(c, failed(&tool.Failure{Outcome: tool.Rejected, Message: c.Reason}))
		case c.Decision == approval.Timeout:
			conv.endCall(c, failed(&tool.Failure{Outcome: tool.TimedOut}))
		default:
			together, next := x.neighbours(i)
			if err := x.runTogether(together); err != nil {
				return err
			}
			if anyCall(conv.calls[i:next], isWaiting) {
				return nil // what comes after it waits, too
			}
			i = next
			continue
		}
		i++
	}
	return nil
}

// neighbours returns the calls from i on that run at the same time, and the index of the first one after them.
func (x executor) neighbours(i int) (together []*store.Call, next int) {
	calls := x.conv.calls
	together, next = []*store.Call{&calls[i]}, i+1
	if !x.parallel(&calls[i]) {
		return together, next
	}
	for ; next < len(calls); next++ {
		switch c := &calls[next]; {
		case c.State == store.Ended:
		case x.parallel(c):
			together = append(together, c)
		default:
			return together, next
		}
	}
	return together, next
}

func (x executor) parallel(c *store.Call) bool {
	t := x.conv.tools.ToolOf(c)
	return t != nil && t.Spec().Parallel && (c.State == store.Ready || x.conv.subAgents[c.ID] != nil) &&
		c.Decision != approval.Rejected && c.Decision != approval.Timeout
}

// runTogether runs calls at the same time. It writes that they have started before any of them is sent, together with the
// results of the calls before.
func (x executor) runTogether(calls []*store.Call) error {
	if x.conv.asking.Err() != nil {
		if err := x.conv.flush(); err != nil {
			return err
		}
		return context.Cause(x.conv.asking)
	}
	x.start(calls)
	prepared := x.prepare(calls)
	defer prepared.end()
	if err := x.conv.flush(); err != nil {
		return err
	}
	defer x.conv.forgetSubAgents(calls)
	if len(calls) == 1 {
		return x.settle(calls[0], x.execute(calls[0], prepared[calls[0]]))
	}
	type ended struct {
		call *store.Call
		outcome
	}
	endings := make(chan ended, len(calls))
	for _, c := range calls {
		own := *c // the goroutine's
		go func() { endings <- ended{c, x.execute(&own, prepared[c])} }()
	}
	var unwritten, unfinished error
	for range calls {
		e := <-endings
		if err := x.settle(e.call, e.outcome); unfinished == nil || errors.Is(unfinished, errWaits) && err != nil {
			unfinished = err
		}
		if unwritten == nil {
			unwritten = x.conv.flush()
		}
	}
	if unwritten != nil {
		return unwritten
	}
	return unfinished
}

// start notes that calls have started, except those of sub-agents that another pod has started.
func (x executor) start(calls []*store.Call) {
	for _, c := range calls {
		if c.State == store.Started {
			continue
		}
		c.State = store.Started
		x.conv.batch.SetCall(*c)
		if t := x.conv.tools.ToolOf(c); t != nil && t.Spec().Category == tool.SubAgent {
			x.conv.startSubAgent(c)
		}
	}
}

// settle ends a call that has run, or that was not delivered. A call that was approved for a connection which its node no
// longer has goes back to the gate: nobody can tell whether the device that came back is the same one. The error is why a
// sub-agent has not ended its call.
func (x executor) settle(c *store.Call, out outcome) error {
	switch {
	case out.unfinished != nil:
		return out.unfinished
	case out.moved:
		c.State, c.Decision, c.Decided = store.Waiting, "", time.Time{}
		x.conv.batch.SetCall(*c)
	default:
		x.conv.endCall(c, out)
	}
	return nil
}

// prepare begins to prepare the calls whose tools can, while it is being stored that they have started.
func (x executor) prepare(calls []*store.Call) preparations {
	prepared := preparations{}
	for _, c := range calls {
		if t, f := x.toolOf(c); f == nil {
			if t, ok := t.(tool.Prepared); ok {
				prepared[c] = prepare(x.conv.traced(x.conv.working), t, x.invocation(c), x.conv.env.log)
			}
		}
	}
	return prepared
}

// execute runs one call that has started.
func (x executor) execute(c *store.Call, prepared *preparation) outcome {
	t, f := x.toolOf(c)
	if f != nil {
		return failed(f)
	}
	return x.conv.env.caller.call(x.conv.traced(x.conv.working), t, x.invocation(c), prepared)
}

// toolOf returns the tool of a call, or why it cannot be called.
func (x executor) toolOf(c *store.Call) (tool.Tool, *tool.Failure) {
	tools := x.conv.tools
	t := tools.ToolOf(c)
	switch {
	case t == nil && tools.Unlisted != nil:
		return nil, tools.Unlisted
	case t == nil:
		return nil, &tool.Failure{Outcome: tool.NotDelivered, Message: "the tool is not there any more"}
	case !isToolOf(c, t):
		return nil, &tool.Failure{Outcome: tool.NotDelivered, Message: "the tool that has this name now is another one"}
	case c.Decision == approval.Modified: // nobody has checked these arguments against the tool's definition yet
		return t, checkCall(tools, c, t)
	}
	return t, nil
}

func (x executor) invocation(c *store.Call) tool.Invocation {
	lease := &x.conv.env.lease
	return tool.Invocation{
		User: lease.User, Session: lease.Session, Run: lease.Run, CallID: c.ID, Args: c.Args, Node: c.Node, NodeMark: c.NodeMark,
		Approved: c.Decision != "",
	}
}
