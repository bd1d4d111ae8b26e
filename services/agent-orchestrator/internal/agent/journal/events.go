package journal

import (
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// SummaryBytes is the most bytes of a `complete` event's `summary`, and of a session's title.
const SummaryBytes = 100

// The finish reasons (docs/protocols/zeus-agents.md#events).
const (
	FinishStop      = "stop"
	FinishInterrupt = "interrupt"
	FinishCancelled = "cancelled"
	FinishMaxSteps  = "max_steps"
	FinishError     = "error"
)

// What follows makes events; a Batch fills in whose they are, and a Writer their numbers.

// TextEvent is a piece of the answer to the user.
func TextEvent(text *agentv1.Text) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_Text{Text: text}}
}

// SubAgentEvent is a whole answer of a sub-agent. It has a kind of its own, so that a client that knows only texts does not
// take it for the answer to the user.
func SubAgentEvent(text string) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_SubAgentText{SubAgentText: &agentv1.SubAgentText{Content: text}}}
}

// ChunkEvent is a piece of a call that the model is still writing.
func ChunkEvent(chunk *agentv1.ToolCallChunk) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_ToolCallChunk{ToolCallChunk: chunk}}
}

// CallEvent is a call that the model has asked for.
func CallEvent(call *agentv1.ToolCall) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_ToolCall{ToolCall: call}}
}

// ResultEvent is the result of a call.
func ResultEvent(result *agentv1.ToolCallResult) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_ToolCallResult{ToolCallResult: result}}
}

// InterruptEvent asks people to decide.
func InterruptEvent(interrupt *agentv1.Interrupt) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_Interrupt{Interrupt: interrupt}}
}

// SkillEvent is a skill that the agent was given whole, and why.
func SkillEvent(name, reason string) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_Skill{Skill: &agentv1.SkillActivation{Name: name, Reason: reason}}}
}

// UsageEvent is how many tokens one request to the model took.
func UsageEvent(prompt, completion int) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_TokenUsage{TokenUsage: &agentv1.TokenUsage{
		PromptTokens: int32(prompt), CompletionTokens: int32(completion),
	}}}
}

// ErrorEvent is why a run fails.
func ErrorEvent(e *agentv1.Error) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_Error{Error: e}}
}

// CompleteEvent is the last event of a run, or of its stream.
func CompleteEvent(finish, content string) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_Complete{Complete: &agentv1.Complete{
		FinishReason: finish, Content: content, Summary: tool.FirstWords(content, SummaryBytes),
	}}}
}
