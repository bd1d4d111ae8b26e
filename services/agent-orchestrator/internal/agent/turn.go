package agent

import (
	"context"
	"errors"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/journal"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// cutsAllowed is how many answers in a row may break off before the run gives up.
const cutsAllowed = 2

// turn is one turn of the model in a conversation: it asks the model, and makes the answer part of the conversation. The
// goroutine that owns the conversation owns it.
type turn struct {
	// static
	conv *conversation
	gate gate

	stream *answerStream // of the last attempt; nil before the first one
}

// take takes the turn. It leaves the answer and its calls in the batch, and returns what the gate has found about the calls.
func (t *turn) take() (review, error) {
	answer, err := t.ask()
	if err != nil {
		t.addPartial(answer.Text, err)
		return review{}, err
	}
	t.conv.env.metrics.steps.Inc()
	return t.accept(answer)
}

// ask asks until an answer is whole: again if one broke off, and after a summary if the conversation is too long.
func (t *turn) ask() (llm.Answer, error) {
	conv := t.conv
	requests := requestBuilder{conv}
	req, err := requests.next()
	if err != nil {
		return llm.Answer{}, err
	}
	for cuts, summarised := 0, false; ; {
		t.stream = newAnswerStream(conv)
		answer, err := t.send(req)
		unwritten := t.stream.stop()
		var failed *llm.Error
		switch {
		case unwritten != nil:
			return answer, unwritten
		case err == nil && t.stream.unheard != "":
			return answer, errDiffers
		case err == nil:
			conv.measured = measured{llm.Estimate(req), answer.Usage.Prompt}
			return answer, nil
		case conv.asking.Err() != nil:
			return answer, context.Cause(conv.asking)
		case !errors.As(err, &failed):
			return answer, err
		case failed.Code == llm.ContextOverflow && !summarised:
			summarised = true
			if req, err = requests.shorten(err); err != nil {
				t.stream = nil
				return llm.Answer{}, err
			}
		case failed.Started && cuts < cutsAllowed:
			cuts++
		default:
			return answer, err
		}
		t.stream.events.abandon()
	}
}

// send sends a request, unless the run's head start has sent it already.
func (t *turn) send(req llm.Request) (llm.Answer, error) {
	conv := t.conv
	if head := conv.head; head != nil {
		conv.head = nil
		if head.takeOver(req, frame{conv.tools.Remarks, conv.tools.Problems, req.Tools, conv.tools.Connected}) {
			return head.follow(t.stream.take)
		}
	}
	return conv.env.models.stream(conv.traced(conv.asking), conv.env.endpoint, req, t.stream.take)
}

// accept makes an answer part of the conversation, with its calls and what the gate decides about them, in one batch.
func (t *turn) accept(answer llm.Answer) (review, error) {
	conv := t.conv
	text := tool.CleanText(answer.Text)
	calls := t.callsOf(answer)
	open := make([]proposed, len(calls))
	for i := range calls {
		open[i] = proposed{conv, &calls[i]}
	}
	found, err := t.gate.review(conv.asking, open)
	if err != nil {
		t.addPartial(text, err)
		return review{}, err
	}
	t.stream.events.finish()
	conv.text = text
	conv.steps++
	switch {
	case !conv.isSubAgent():
		conv.batch.Change.Steps = &conv.steps
	case text != "":
		conv.batch.AddEvent(journal.SubAgentEvent(text))
	}
	conv.batch.Change.ToolNames = conv.env.names.Changed()
	conv.addMessage(store.Message{Role: store.RoleAssistant, Content: text, Calls: asWritten(answer, calls)})
	for i := range calls {
		c := &calls[i]
		conv.batch.AddEvent(journal.CallEvent(&agentv1.ToolCall{
			ToolCallId: c.ID, ToolName: c.Tool, ToolArgsJson: argsJSON(c.Args, answer.Calls[i].Args), RequiresApproval: found.asks[i],
		}))
	}
	conv.batch.AddEvent(journal.UsageEvent(answer.Usage.Prompt, answer.Usage.Completion))
	conv.calls = calls
	return found, nil
}

// callsOf returns the calls of an answer with their ids, and the tools that the model means.
func (t *turn) callsOf(answer llm.Answer) []store.Call {
	if len(answer.Calls) == 0 {
		return nil
	}
	env := t.conv.env
	calls := make([]store.Call, len(answer.Calls))
	for i, c := range answer.Calls {
		label, key := t.conv.tools.Bind(env.names, c.Name)
		calls[i] = store.Call{
			ID: t.stream.callID(i, c.ID), Run: env.lease.Run, Position: i, Tool: label, Key: key, Args: object(c.Args), State: store.Waiting,
		}
	}
	return calls
}

// addPartial adds what came of an answer that is not whole, if the user cut it short, or if it broke off and the model does
// not continue it.
func (t *turn) addPartial(text string, why error) {
	conv := t.conv
	differs := errors.Is(why, errDiffers)
	if t.stream == nil || conv.isSubAgent() || !differs && !errors.Is(context.Cause(conv.asking), errCancelled) {
		return
	}
	if t.stream.unheard != "" {
		text = conv.broken.heard
	}
	if text == "" {
		return
	}
	t.stream.events.finish()
	conv.text = tool.CleanText(text)
	conv.addMessage(store.Message{Role: store.RoleAssistant, Content: conv.text})
}
