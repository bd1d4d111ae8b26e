package agent

import (
	"context"
	"errors"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

const (
	// taskSteps is how many answers of the model a sub-agent takes.
	taskSteps = 20

	promptTask = `You are a sub-agent: you do one task for another agent, which sees nothing but your last answer. Nobody can answer ` +
		`questions. Do the task with the tools that you are given, then answer with what was asked for, complete and short.`
)

// task does a piece of work with a sub-agent: the same model and tools but for this one and the todo list, a conversation of
// its own that is never kept, and its last answer as result.
func (r *run) task(ctx context.Context, _ tool.Invocation, _, prompt string) (tool.Result, error) {
	policy, err := r.readPolicy()
	if err != nil {
		return tool.Result{}, &tool.Failure{Outcome: tool.NotDelivered, Message: "the approval settings cannot be read"}
	}
	s := &subAgent{r: r, policy: policy, kit: r.kit.forTask()}
	s.messages = append(s.kit.opening(promptTask+"\n\n"+promptTools), llm.Message{Role: llm.User, Content: prompt})
	return s.work(ctx)
}

// subAgent is one task at work. The goroutine of its call owns it; of its run it reads what no one changes meanwhile.
type subAgent struct {
	r        *run
	policy   approval.Policy
	kit      *kit
	messages []llm.Message
	calls    int
}

func (s *subAgent) work(ctx context.Context) (tool.Result, error) {
	for range taskSteps {
		answer, err := s.ask(ctx)
		if err != nil {
			return tool.Result{}, s.failed(ctx, err)
		}
		if len(answer.Calls) == 0 {
			return tool.Result{Text: answer.Text}, nil
		}
		for i := range answer.Calls { // models leave ids out, or repeat them
			s.calls++
			answer.Calls[i].ID = newCallID()
		}
		s.messages = append(s.messages, llm.Message{Role: llm.Assistant, Content: answer.Text, Calls: answer.Calls})
		for i, c := range answer.Calls {
			text := s.run(ctx, i, c)
			if ctx.Err() != nil {
				return tool.Result{}, s.failed(ctx, ctx.Err())
			}
			s.messages = append(s.messages, llm.Message{Role: llm.Tool, Content: text, CallID: c.ID, Name: c.Name})
		}
	}
	return tool.Result{IsError: true, Text: "The sub-agent did not come to an end within its number of steps."}, nil
}

// ask asks the model, again where its answer was cut: nobody has seen any of it.
func (s *subAgent) ask(ctx context.Context) (llm.Answer, error) {
	for cuts := 0; ; cuts++ {
		answer, err := s.r.e.ask(ctx, s.r.endpoint, llm.Request{Messages: s.messages, Tools: s.kit.offered(s.r.lexicon, s.r.toolTokens())}, func(llm.Delta) error { return nil })
		var failed *llm.Error
		if err == nil || ctx.Err() != nil || !errors.As(err, &failed) || !failed.Started || cuts == cutsAllowed {
			return answer, err
		}
	}
}

// failed says what is known of a task that came to no end.
func (s *subAgent) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return failureOf(ctx, err)
	}
	outcome := tool.NotDelivered
	if s.calls > 0 { // its tools may have done something
		outcome = tool.Unknown
	}
	return &tool.Failure{Outcome: outcome, Message: "the sub-agent's model failed: " + err.Error()}
}

// run runs one call, unless somebody would have to be asked.
func (s *subAgent) run(ctx context.Context, position int, c llm.Call) string {
	call := store.Call{ID: c.ID, Position: position, Args: object(c.Args)}
	s.r.name(s.kit, &call, c.Name)
	name, t := call.Tool, s.kit.toolOf(&call)
	if f := s.kit.check(&call, t); f != nil {
		return explain(name, f)
	}
	var choice *tool.Selection
	switch d, err := s.r.judge(ctx, s.policy, &call, t); {
	case d.Verdict == approval.Refuse:
		return explain(name, refused(d))
	case d.Verdict == approval.Ask:
		return name + " was not run: it needs the user's approval, and a sub-agent cannot ask for it. Say so in your answer."
	case errors.As(err, &choice):
		return name + " was not run: the user must choose a node first, and a sub-agent cannot ask for it. Say so in your answer."
	case err != nil:
		return explain(name, failureOf(ctx, err))
	}
	// What a sub-agent does is kept nowhere, so that the lease has to be asked: a pod that was cut off must start nothing once
	// another has the run.
	if err := s.r.e.renew(ctx, []store.Lease{s.r.lease}); err != nil || ctx.Err() != nil {
		return explain(name, &tool.Failure{Outcome: tool.NotDelivered, Message: "the agent server's database cannot be reached"})
	}
	out := s.r.e.call(ctx, t, tool.Invocation{
		User: s.r.lease.User, Session: s.r.lease.Session, Run: s.r.lease.Run, CallID: c.ID, Args: call.Args, Node: call.Node, NodeMark: call.NodeMark,
	})
	return s.r.present(c.ID, name, out).GetResult()
}
