package agent

import (
	"encoding/json"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// summaryBytes is how long the `summary` of a complete event is at most, and the title of a session.
const summaryBytes = 100

// The finish reasons (docs/protocols/zeus-agents.md#events).
const (
	finishStop      = "stop"
	finishInterrupt = "interrupt"
	finishCancelled = "cancelled"
	finishMaxSteps  = "max_steps"
	finishError     = "error"
)

// What follows makes events; a page fills in whose and which they are.

func textEvent(text *agentv1.Text) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_Text{Text: text}}
}

// subAgentEvent is of a kind of its own: who knows only texts must not take it for the answer.
func subAgentEvent(text string) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_SubAgentText{SubAgentText: &agentv1.SubAgentText{Content: text}}}
}

func chunkEvent(chunk *agentv1.ToolCallChunk) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_ToolCallChunk{ToolCallChunk: chunk}}
}

func callEvent(call *agentv1.ToolCall) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_ToolCall{ToolCall: call}}
}

func resultEvent(result *agentv1.ToolCallResult) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_ToolCallResult{ToolCallResult: result}}
}

func interruptEvent(interrupt *agentv1.Interrupt) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_Interrupt{Interrupt: interrupt}}
}

func usageEvent(prompt, completion int) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_TokenUsage{TokenUsage: &agentv1.TokenUsage{
		PromptTokens: int32(prompt), CompletionTokens: int32(completion),
	}}}
}

func errorEvent(e *agentv1.Error) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_Error{Error: e}}
}

// completeEvent is the last event of a run, or of its stream.
func completeEvent(finish, content string) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_Complete{Complete: &agentv1.Complete{
		FinishReason: finish, Content: content, Summary: firstWords(content, summaryBytes),
	}}}
}

// argsJSON is what a model wrote as arguments, as JSON in any case: a string where it is no object.
func argsJSON(object []byte, written string) []byte {
	if object != nil {
		return object
	}
	text, _ := json.Marshal(written) // a string cannot fail
	return text
}
