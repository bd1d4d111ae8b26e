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
func (r *run) step() error {
	if r.steps >= r.maxSteps() {
		return r.finish(finishMaxSteps)
	}
	r.trail.next(r.hold, r.steps+1)
	answer, s, err := r.askModel()
	if err != nil {
		r.keepPartial(answer.Text, s, err)
		return err
	}
	r.e.metrics.steps.Inc()
	return r.take(answer, s)
}

func (r *run) maxSteps() int {
	if n := int(r.settings.Invoke.GetMaxSteps()); n > 0 {
		return n
	}
	return r.e.cfg.MaxSteps
}

// askModel asks until an answer is whole: again where one was cut, after a summary where the conversation is too long.
func (r *run) askModel() (llm.Answer, *stream, error) {
	req, err := r.request()
	if err != nil {
		return llm.Answer{}, nil, err
	}
	for cuts, summarised := 0, false; ; {
		s := newStream(r)
		answer, err := r.e.ask(r.trail.under(r.ask), r.endpoint, req, s.take)
		kept := s.stop()
		var failed *llm.Error
		switch {
		case kept != nil:
			return answer, s, kept
		case err == nil && s.unheard != "":
			return answer, s, errDiffers
		case err == nil:
			r.measured = measured{llm.Estimate(req), answer.Usage.Prompt}
			return answer, s, nil
		case r.ask.Err() != nil:
			return answer, s, context.Cause(r.ask)
		case !errors.As(err, &failed):
			return answer, s, err
		case failed.Code == llm.ContextOverflow && !summarised:
			summarised = true
			if req, err = r.shorten(err); err != nil {
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
func (r *run) take(answer llm.Answer, s *stream) error {
	text := tool.CleanText(answer.Text)
	calls := r.callsOf(answer, s)
	plan, err := r.plan(calls)
	if err != nil {
		r.keepPartial(text, s, err)
		return err
	}
	s.finish()
	r.text = text
	r.steps++
	r.change.Steps = &r.steps
	r.change.Lexicon = r.lexicon.take()
	r.remember(store.Message{Role: roleAssistant, Content: text, Calls: asWritten(answer, calls)})
	for i := range calls {
		c := &calls[i]
		r.say(callEvent(&agentv1.ToolCall{
			ToolCallId: c.ID, ToolName: c.Tool, ToolArgsJson: argsJSON(c.Args, answer.Calls[i].Args), RequiresApproval: plan.asks[i],
		}))
	}
	r.say(usageEvent(answer.Usage.Prompt, answer.Usage.Completion))
	r.calls = calls
	if len(calls) == 0 {
		return r.finish(finishStop)
	}
	return r.follow(plan)
}

// callsOf gives the calls of an answer their ids.
func (r *run) callsOf(answer llm.Answer, s *stream) []store.Call {
	if len(answer.Calls) == 0 {
		return nil
	}
	calls := make([]store.Call, len(answer.Calls))
	for i, c := range answer.Calls {
		calls[i] = store.Call{ID: s.callID(i, c.ID), Run: r.lease.Run, Position: i, Args: object(c.Args), State: store.Waiting}
		r.name(r.kit, &calls[i], c.Name)
	}
	return calls
}

// name sets which tool a call is of, by what a model wrote: from now on the name means no other in this run.
func (r *run) name(k *kit, c *store.Call, written string) {
	c.Tool = k.labelOf(r.lexicon, written)
	if e := k.meant(r.lexicon, written); e != nil {
		c.Key = e.key
		r.lexicon.mean(written, e.key)
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

// remember adds a message to the page and to what the model is told next.
func (r *run) remember(m store.Message) {
	r.messages = append(r.messages, r.add(m))
}

// keepPartial keeps what was read of an answer that is not whole: the user cut it short, or it broke off and the model does
// not go on with it.
func (r *run) keepPartial(text string, s *stream, why error) {
	differs := errors.Is(why, errDiffers)
	if s == nil || !differs && !errors.Is(context.Cause(r.ask), errCancelled) {
		return
	}
	if s.unheard != "" {
		text = r.broken.heard
	}
	if text == "" {
		return
	}
	s.finish()
	r.text = tool.CleanText(text)
	r.remember(store.Message{Role: roleAssistant, Content: r.text})
}
