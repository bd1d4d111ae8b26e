package agent

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/journal"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/prompt"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

const (
	// summaryAt is how full the model's window may be, in percent (docs/protocols/zeus-agents.md#context).
	summaryAt = 85
	// summaryKeeps is how much of the window the last messages may take that are kept word for word, in percent.
	summaryKeeps = 25
	// summaryReads is how much of the window what is summarised may take, in percent.
	summaryReads = 60
)

var errEmptySummary = errors.New("agent: the model's summary is empty")

// measured is what an endpoint said about the size of a request, in tokens, and what we had estimated.
type measured struct{ estimate, actual int }

// size estimates a request, corrected by how wrong the last estimate was.
func (m measured) size(req llm.Request) int {
	estimate := llm.Estimate(req)
	return max(estimate, estimate+m.actual-m.estimate)
}

// requestBuilder makes the next request of a conversation, and summarises the conversation if it is too long for the model's
// window. The goroutine that owns the conversation uses it.
type requestBuilder struct{ conv *conversation }

// next returns what the model is asked next. The tools of the user's conversation are brought up to date before.
func (b requestBuilder) next() (llm.Request, error) {
	conv := b.conv
	if conv.toolset != nil {
		tools, err := conv.toolset.refresh(conv.flush)
		if err != nil {
			return llm.Request{}, err
		}
		conv.tools = tools
	}
	req := b.build()
	if !tooLong(conv.measured.size(req), conv.env.window) {
		return req, nil
	}
	return b.shorten(nil)
}

// tooLong reports whether a request of so many tokens is made shorter before it is sent.
func tooLong(tokens, window int) bool { return tokens*100 > window*summaryAt }

// build returns the request for the conversation as it is.
func (b requestBuilder) build() llm.Request {
	conv, env := b.conv, b.conv.env
	system := prompt.System(env.settings.mode(), env.settings.HumanOrder, time.Now())
	if conv.isSubAgent() {
		system = prompt.SubAgent(env.settings.HumanOrder)
	}
	system = prompt.With(system, env.briefing.text(conv))
	around := frame{conv.tools.Remarks, conv.tools.Problems, conv.tools.Functions(env.names, env.toolTokens()), conv.tools.Connected}
	return around.request(system, b.history())
}

func (b requestBuilder) history() prompt.History {
	return prompt.NewHistory(b.conv.messages, b.conv.env.lease.Run)
}

// shorten summarises all but the last messages, and returns the request without them. why is set if the endpoint has refused
// the request as too long: then the window is smaller than we thought, and only the very last message is kept. If there is
// nothing to summarise it returns the request as it is, and why.
func (b requestBuilder) shorten(why error) (llm.Request, error) {
	conv := b.conv
	keeps := conv.env.window * summaryKeeps / 100
	if why != nil {
		keeps = 0
	}
	history := b.history()
	head := history.Head(keeps)
	if len(head) == 0 {
		return b.build(), why
	}
	if err := conv.flush(); err != nil { // a summary takes a while
		return llm.Request{}, err
	}
	text, err := b.summarise(history.Summary, head)
	if err != nil {
		return llm.Request{}, err
	}
	conv.addMessage(store.Message{Role: store.RoleSystem, Content: text, Covers: head[len(head)-1].Index})
	conv.measured = measured{}
	if err := conv.flush(); err != nil {
		return llm.Request{}, err
	}
	return b.build(), nil
}

// summarise asks the model for a summary of messages, and of the summary before them.
func (b requestBuilder) summarise(before *store.Message, messages []store.Message) (string, error) {
	conv, env := b.conv, b.conv.env
	req := prompt.Summarise(before, messages, env.window*summaryReads/100)
	answer, err := env.models.stream(conv.traced(conv.asking), env.endpoint, req, func(llm.Delta) error { return nil })
	if err != nil {
		if conv.asking.Err() != nil {
			return "", context.Cause(conv.asking)
		}
		return "", err
	}
	env.log.InfoContext(env.leased, "conversation summarised", "messages", len(messages))
	env.metrics.summaries.Inc()
	conv.batch.AddEvent(journal.UsageEvent(answer.Usage.Prompt, answer.Usage.Completion))
	text := tool.CleanText(strings.TrimSpace(answer.Text))
	if text == "" {
		return "", errEmptySummary
	}
	return text, nil
}
