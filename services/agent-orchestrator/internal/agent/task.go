package agent

import (
	"context"
	"errors"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/builtin"
)

const (
	// taskSteps is how many answers of the model a sub-agent takes.
	taskSteps = 20

	promptTask = `You are a sub-agent: you do one task for another agent, which sees nothing but your last answer. Nobody can answer ` +
		`questions. Do the task with the tools that you are given, then answer with what was asked for, complete and short.`
)

// errRests is a sub-agent that goes on once somebody has decided about its calls. It is asked about when all others of the
// run have ended or rest, too: an interrupted run is in no pod's memory.
var errRests = errors.New("agent: a sub-agent waits for a decision")

// leftError is why a sub-agent leaves its call as it is: what it has done is kept, and it goes on from there, here or on
// another pod.
type leftError struct{ why error }

func (e *leftError) Error() string { return e.why.Error() }
func (e *leftError) Unwrap() error { return e.why }

// newTask returns the thread of a call's sub-agent: the same model, and the tools but for sub-agents and the todo list.
func (r *run) newTask(call string, messages []store.Message, calls []store.Call) *thread {
	t := &thread{run: r, page: page{runID: r.lease.Run, parent: call}, ask: r.ask, work: r.work, kit: r.kit.forTask(), messages: messages, calls: calls}
	for i := range messages {
		if messages[i].Role == roleAssistant {
			t.steps++
		}
	}
	return t
}

// assign begins the conversation of a call's sub-agent. It is kept together with the word that the call has started.
func (t *thread) assign(c *store.Call) {
	prompt := builtin.TaskPrompt(c.Args)
	if prompt == "" { // the tool says so
		return
	}
	task := t.newTask(c.ID, nil, nil)
	task.remember(store.Message{Role: roleUser, Content: tool.CleanText(prompt)})
	t.change.Messages = append(t.change.Messages, task.change.Messages...)
	task.change = store.Change{}
	t.tasks[c.ID] = task
}

// dismiss lets go of the sub-agents of calls that have ended. A sub-agent has none, and only reads what its run's goroutine
// changes while no sub-agent is at work.
func (t *thread) dismiss(calls []*store.Call) {
	for _, c := range calls {
		if !isOpen(c) && t.tasks[c.ID] != nil {
			delete(t.tasks, c.ID)
		}
	}
}

// task has the sub-agent of a call work until it has answered, or has to leave off.
func (r *run) task(ctx context.Context, in tool.Invocation) (tool.Result, error) {
	t := r.tasks[in.CallID]
	asking, end := context.WithCancelCause(ctx)
	defer end(context.Canceled)
	defer context.AfterFunc(r.ask, func() { end(context.Cause(r.ask)) })()
	t.ask, t.work = asking, ctx
	result, err := t.loop()
	if err == nil {
		err = t.flush(r.hold)
	}
	if err == nil {
		return result, nil
	}
	return tool.Result{}, t.leave(err)
}

// loop does what the sub-agent's state asks for, until there is an answer.
func (t *thread) loop() (tool.Result, error) {
	for {
		var err error
		switch last := t.messages[len(t.messages)-1]; {
		case t.ask.Err() != nil:
			err = context.Cause(t.ask)
		case anyCall(t.calls, waits):
			err = errRests
		case anyCall(t.calls, isOpen):
			err = t.runCalls()
		case last.Role == roleAssistant && len(last.Calls) == 0:
			return tool.Result{Text: last.Content}, nil
		case t.steps >= taskSteps:
			return tool.Result{IsError: true, Text: "The sub-agent did not come to an end within its number of steps."}, nil
		default:
			err = t.step()
		}
		if err != nil {
			return tool.Result{}, err
		}
	}
}

// leave says what err means for the call: that the sub-agent failed, or that it goes on later.
func (t *thread) leave(err error) error {
	var keep *keepError
	over := t.work.Err() != nil && t.run.work.Err() == nil // the call's time, and nothing else
	switch {
	case errors.As(err, &keep):
		return &leftError{err}
	case !over && !fails(err):
		if kept := t.flush(t.hold); kept != nil {
			err = kept
		}
		return &leftError{err}
	}
	failure := &tool.Failure{Outcome: tool.NotDelivered, Message: "the sub-agent's model failed: " + err.Error()}
	if over {
		t.closeCalls("the time of its sub-agent is over")
		failure.Reason, failure.Message = string(errs.ToolTimeout), "the sub-agent did not come to an end in time"
	}
	for i := range t.messages {
		if t.messages[i].Role == roleTool { // its tools may have done something
			failure.Outcome = tool.Unknown
		}
	}
	if kept := t.flush(t.hold); kept != nil {
		return &leftError{kept}
	}
	return failure
}
