package agent

import (
	"context"
	"errors"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// Roles of messages.
const (
	roleUser      = string(llm.User)
	roleAssistant = string(llm.Assistant)
	roleTool      = string(llm.Tool)
	roleSystem    = string(llm.System)
)

// cutsAllowed is how many answers in a row may be cut before the run gives up.
const cutsAllowed = 2

// step asks the model, and takes its answer.
func (t *thread) step() error {
	answer, s, err := t.askModel()
	if err != nil {
		t.keepPartial(answer.Text, s, err)
		return err
	}
	t.e.metrics.steps.Inc()
	return t.take(answer, s)
}

// askModel asks until an answer is whole: again where one was cut, after a summary where the conversation is too long.
func (t *thread) askModel() (llm.Answer, *stream, error) {
	req, err := t.request()
	if err != nil {
		return llm.Answer{}, nil, err
	}
	for cuts, summarised := 0, false; ; {
		s := newStream(t)
		answer, err := t.e.ask(t.under(t.ask), t.endpoint, req, s.take)
		kept := s.stop()
		var failed *llm.Error
		switch {
		case kept != nil:
			return answer, s, kept
		case err == nil && s.unheard != "":
			return answer, s, errDiffers
		case err == nil:
			t.measured = measured{llm.Estimate(req), answer.Usage.Prompt}
			return answer, s, nil
		case t.ask.Err() != nil:
			return answer, s, context.Cause(t.ask)
		case !errors.As(err, &failed):
			return answer, s, err
		case failed.Code == llm.ContextOverflow && !summarised:
			summarised = true
			if req, err = t.shorten(err); err != nil {
				return llm.Answer{}, nil, err
			}
		case failed.Started && cuts < cutsAllowed:
			cuts++
		default:
			return answer, s, err
		}
		s.abandon()
	}
}

// take makes an answer part of the conversation: with its calls, and what becomes of them, in one change.
func (t *thread) take(answer llm.Answer, s *stream) error {
	text := tool.CleanText(answer.Text)
	calls := t.callsOf(answer, s)
	open := make([]asked, len(calls))
	for i := range calls {
		open[i] = asked{t, &calls[i]}
	}
	plan, err := t.plan(t.ask, open)
	if err != nil {
		t.keepPartial(text, s, err)
		return err
	}
	s.finish()
	t.text = text
	t.steps++
	switch {
	case !t.isTask():
		t.change.Steps = &t.steps
	case text != "":
		t.say(subAgentEvent(text))
	}
	t.change.Lexicon = t.lexicon.take()
	t.remember(store.Message{Role: roleAssistant, Content: text, Calls: asWritten(answer, calls)})
	for i := range calls {
		c := &calls[i]
		t.say(callEvent(&agentv1.ToolCall{
			ToolCallId: c.ID, ToolName: c.Tool, ToolArgsJson: argsJSON(c.Args, answer.Calls[i].Args), RequiresApproval: plan.asks[i],
		}))
	}
	t.say(usageEvent(answer.Usage.Prompt, answer.Usage.Completion))
	t.calls = calls
	switch {
	case t.isTask(): // the run asks, once nothing else goes on in it
		plan.follow()
		return nil
	case len(calls) == 0:
		return t.finish(finishStop)
	}
	return t.askOrGoOn(plan)
}

// callsOf gives the calls of an answer their ids.
func (t *thread) callsOf(answer llm.Answer, s *stream) []store.Call {
	if len(answer.Calls) == 0 {
		return nil
	}
	calls := make([]store.Call, len(answer.Calls))
	for i, c := range answer.Calls {
		calls[i] = store.Call{ID: s.callID(i, c.ID), Run: t.lease.Run, Position: i, Args: object(c.Args), State: store.Waiting}
		t.name(&calls[i], c.Name)
	}
	return calls
}

// name sets which tool a call is of, by what a model wrote: from now on the name means no other in this run.
func (t *thread) name(c *store.Call, written string) {
	c.Tool = t.kit.labelOf(t.lexicon, written)
	if e := t.kit.meant(t.lexicon, written); e != nil {
		c.Key = e.key
		t.lexicon.mean(written, e.key)
	}
}

// asWritten are the calls of an answer as the conversation has them.
func asWritten(answer llm.Answer, calls []store.Call) []store.MessageCall {
	if len(calls) == 0 {
		return nil
	}
	out := make([]store.MessageCall, len(calls))
	for i, c := range calls {
		args := string(c.Args)
		if c.Args == nil {
			args = tool.CleanText(answer.Calls[i].Args)
		}
		out[i] = store.MessageCall{ID: c.ID, Name: c.Tool, Args: args}
		if written := answer.Calls[i].Name; written != c.Tool && tool.PastName(written) == written {
			out[i].Written = written
		}
	}
	return out
}

// keepPartial keeps what was read of an answer that is not whole: the user cut it short, or it broke off and the model does
// not go on with it.
func (t *thread) keepPartial(text string, s *stream, why error) {
	differs := errors.Is(why, errDiffers)
	if s == nil || t.isTask() || !differs && !errors.Is(context.Cause(t.ask), errCancelled) {
		return
	}
	if s.unheard != "" {
		text = t.broken.heard
	}
	if text == "" {
		return
	}
	s.finish()
	t.text = tool.CleanText(text)
	t.remember(store.Message{Role: roleAssistant, Content: t.text})
}
