package prompt

import (
	"cmp"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// HistoryMessages is how many messages from before a run the model is told (docs/protocols/zeus-agents.md#context).
const HistoryMessages = 30

// History is the part of a conversation that the model is told word for word, after the summary of what came before it.
type History struct {
	// Summary is the last one; nil if there is none.
	Summary *store.Message
	// Recent are the messages that the summary does not cover, but for those long before the run.
	Recent []store.Message
}

// NewHistory divides the messages of a conversation, of which a run is the last.
func NewHistory(messages []store.Message, run string) History {
	summary, rest := splitSummary(messages)
	return History{Summary: summary, Recent: recent(rest, run)}
}

// Messages returns the history as the model is told it.
func (h History) Messages() []llm.Message {
	var out []llm.Message
	if h.Summary != nil {
		// As the user's word: endpoints differ in what they do with a second system message, and some insist on a user's.
		out = append(out, llm.Message{Role: llm.User, Content: summaryTitle + h.Summary.Content})
	}
	return append(out, toModel(h.Recent)...)
}

// Head returns the recent messages without the last ones, of which as many are left out as fit into so many tokens, at least
// one, and never a result without the answer that asked for the call.
func (h History) Head(tokens int) []store.Message {
	from := len(h.Recent)
	for i, size := len(h.Recent)-1, 0; i >= 0; i-- {
		size += llm.Estimate(llm.Request{Messages: alone(h.Recent[i])})
		if size > tokens && from < len(h.Recent) {
			break
		}
		if h.Recent[i].Role != store.RoleTool {
			from = i
		}
	}
	return h.Recent[:from]
}

func alone(m store.Message) []llm.Message {
	return []llm.Message{{Role: llm.Role(m.Role), Content: m.Content, Calls: callsToModel(m.Calls)}}
}

// splitSummary divides messages into the last summary, if there is one, and what it does not cover.
func splitSummary(messages []store.Message) (summary *store.Message, rest []store.Message) {
	for i := len(messages) - 1; i >= 0 && summary == nil; i-- {
		if messages[i].Role == store.RoleSystem {
			summary = &messages[i]
		}
	}
	if summary == nil {
		return nil, messages
	}
	rest = make([]store.Message, 0, len(messages))
	for _, m := range messages {
		if m.Role != store.RoleSystem && (m.Index > summary.Covers || m.Index == 0) { // 0: not stored yet
			rest = append(rest, m)
		}
	}
	return summary, rest
}

// recent drops all but the last messages before a run: what happened in the run itself is never dropped, for an agent that
// forgets its task in the middle does harm. An assistant's message is never parted from its tools' messages.
func recent(messages []store.Message, run string) []store.Message {
	before := 0
	for before < len(messages) && messages[before].Run != run {
		before++
	}
	from := max(0, before-HistoryMessages)
	for from < before && messages[from].Role == store.RoleTool {
		from++
	}
	return messages[from:]
}

// toModel makes messages what a model takes: each call of an assistant is followed by its answer, and no answer is without
// its call.
func toModel(messages []store.Message) []llm.Message {
	out := make([]llm.Message, 0, len(messages)+2)
	for i := 0; i < len(messages); i++ {
		switch m := &messages[i]; m.Role {
		case store.RoleUser:
			out = append(out, llm.Message{Role: llm.User, Content: m.Content})
		case store.RoleAssistant:
			if m.Content == "" && len(m.Calls) == 0 {
				continue
			}
			out = append(out, llm.Message{Role: llm.Assistant, Content: m.Content, Calls: callsToModel(m.Calls)})
			end := i + 1
			for end < len(messages) && messages[end].Role == store.RoleTool {
				end++
			}
			out = appendAnswers(out, m.Calls, messages[i+1:end])
			i = end - 1
		}
	}
	return out
}

func callsToModel(calls []store.MessageCall) []llm.Call {
	if len(calls) == 0 {
		return nil
	}
	out := make([]llm.Call, len(calls))
	for i, c := range calls {
		out[i] = llm.Call{ID: c.ID, Name: pastName(c), Args: c.Args}
	}
	return out
}

func appendAnswers(out []llm.Message, calls []store.MessageCall, answers []store.Message) []llm.Message {
	for _, c := range calls {
		text := "There is no result of this call."
		for i := range answers {
			if answers[i].CallID == c.ID {
				text = answers[i].Content
			}
		}
		out = append(out, llm.Message{Role: llm.Tool, Content: text, CallID: c.ID, Name: pastName(c)})
	}
	return out
}

// pastName is the name under which a model is shown a call that it wrote: the one that it used.
func pastName(c store.MessageCall) string { return tool.PastName(cmp.Or(c.Written, c.Name)) }
