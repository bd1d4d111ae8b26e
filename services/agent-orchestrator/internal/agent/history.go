package agent

import (
	"cmp"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// conversation divides a session's messages into the summary, if there is one, and what it does not cover.
func conversation(messages []store.Message) (summary *store.Message, rest []store.Message) {
	for i := len(messages) - 1; i >= 0 && summary == nil; i-- {
		if messages[i].Role == roleSystem {
			summary = &messages[i]
		}
	}
	if summary == nil {
		return nil, messages
	}
	rest = make([]store.Message, 0, len(messages))
	for _, m := range messages {
		if m.Role != roleSystem && (m.Index > summary.Covers || m.Index == 0) { // 0: not kept yet
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
	from := max(0, before-historyMessages)
	for from < before && messages[from].Role == roleTool {
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
		case roleUser:
			out = append(out, llm.Message{Role: llm.User, Content: m.Content})
		case roleAssistant:
			if m.Content == "" && len(m.Calls) == 0 {
				continue
			}
			out = append(out, llm.Message{Role: llm.Assistant, Content: m.Content, Calls: callsToModel(m.Calls)})
			end := i + 1
			for end < len(messages) && messages[end].Role == roleTool {
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
