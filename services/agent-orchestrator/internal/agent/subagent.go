package agent

import (
	"context"
	"errors"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/journal"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/builtin"
)

// subAgentSteps is how many answers of the model a sub-agent takes.
const subAgentSteps = 20

// errWaits is a sub-agent that goes on once somebody has decided about its calls. They are asked about when all other
// sub-agents of the run have ended or wait, too: nothing of an interrupted run is in a pod's memory.
var errWaits = errors.New("agent: a sub-agent waits for a decision")

// unfinishedError is why a sub-agent stops before its call has ended: what it has done is stored, and it goes on from there,
// here or on another pod.
type unfinishedError struct{ why error }

func (e *unfinishedError) Error() string { return e.why.Error() }
func (e *unfinishedError) Unwrap() error { return e.why }

// newSubAgent returns the conversation of a call's sub-agent: the same model, and the tools except sub-agents and the todo
// list.
func (c *conversation) newSubAgent(call string, messages []store.Message, calls []store.Call) *conversation {
	sub := newConversation(c.env, call, c.tools.ForSubAgent())
	sub.messages, sub.calls = messages, calls
	for i := range messages {
		if messages[i].Role == store.RoleAssistant {
			sub.steps++
		}
	}
	return sub
}

// startSubAgent begins the conversation of a call's sub-agent. It is written together with the start of the call.
func (c *conversation) startSubAgent(call *store.Call) {
	prompt := builtin.TaskPrompt(call.Args)
	if prompt == "" { // the tool reports it
		return
	}
	sub := c.newSubAgent(call.ID, nil, nil)
	sub.addMessage(store.Message{Role: store.RoleUser, Content: tool.CleanText(prompt)})
	c.batch.Change.Messages = append(c.batch.Change.Messages, sub.batch.Change.Messages...)
	sub.batch.Change = store.Change{}
	c.subAgents[call.ID] = sub
}

// forgetSubAgents drops the sub-agents of calls that have ended.
func (c *conversation) forgetSubAgents(calls []*store.Call) {
	for _, call := range calls {
		if !isOpen(call) {
			delete(c.subAgents, call.ID)
		}
	}
}

// subAgent carries out one call of `task`, on the goroutine of that call. It owns its conversation until work returns.
type subAgent struct {
	conv *conversation
	gate gate
}

// work goes on until the sub-agent has answered, or has to stop. The error is a *tool.Failure or an *unfinishedError.
func (s *subAgent) work(ctx context.Context) (tool.Result, error) {
	env := s.conv.env
	asking, end := context.WithCancelCause(ctx)
	defer end(context.Canceled)
	defer context.AfterFunc(env.asking, func() { end(context.Cause(env.asking)) })()
	s.conv.asking, s.conv.working = asking, ctx
	result, err := s.loop()
	if err == nil {
		err = s.conv.flush()
	}
	if err == nil {
		return result, nil
	}
	return tool.Result{}, s.stopped(err)
}

// loop does what the sub-agent's state asks for, until there is an answer.
func (s *subAgent) loop() (tool.Result, error) {
	conv := s.conv
	for {
		var err error
		switch last := conv.messages[len(conv.messages)-1]; {
		case conv.asking.Err() != nil:
			err = context.Cause(conv.asking)
		case anyCall(conv.calls, isWaiting):
			err = errWaits
		case anyCall(conv.calls, isOpen):
			err = executor{conv}.runOpen()
		case last.Role == store.RoleAssistant && len(last.Calls) == 0:
			return tool.Result{Text: last.Content}, nil
		case conv.steps >= subAgentSteps:
			return tool.Result{IsError: true, Text: "The sub-agent did not come to an end within its number of steps."}, nil
		default:
			var found review
			if found, err = (&turn{conv: conv, gate: s.gate}).take(); err == nil {
				found.apply() // the run asks, once none of its sub-agents goes on
			}
		}
		if err != nil {
			return tool.Result{}, err
		}
	}
}

// stopped says what err means for the call: that the sub-agent failed, or that it goes on later.
func (s *subAgent) stopped(err error) error {
	conv := s.conv
	var unwritten *journal.Error
	timedOut := conv.working.Err() != nil && conv.env.working.Err() == nil // the call's time is over, and nothing else
	switch {
	case errors.As(err, &unwritten):
		return &unfinishedError{err}
	case !timedOut && !isModelError(err):
		if unwritten := conv.flush(); unwritten != nil {
			err = unwritten
		}
		return &unfinishedError{err}
	}
	failure := &tool.Failure{Outcome: tool.NotDelivered, Message: "the sub-agent's model failed: " + err.Error()}
	if timedOut {
		conv.closeCalls("the time of its sub-agent is over")
		failure.Reason, failure.Message = string(errs.ToolTimeout), "the sub-agent did not come to an end in time"
	}
	for i := range conv.messages {
		if conv.messages[i].Role == store.RoleTool { // its tools may have done something
			failure.Outcome = tool.Unknown
		}
	}
	if unwritten := conv.flush(); unwritten != nil {
		return &unfinishedError{unwritten}
	}
	return failure
}

// isModelError reports whether the model failed: then the conversation cannot go on, and what was said in it stands.
func isModelError(err error) bool {
	var failed *llm.Error
	return errors.As(err, &failed)
}
