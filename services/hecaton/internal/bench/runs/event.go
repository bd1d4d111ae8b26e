package runs

import "encoding/json"

// event is what counts of an event of a run (docs/architecture.md, "The agent's public face").
type event struct {
	Type         string          `json:"type"`
	Seq          int64           `json:"seq"`
	ToolCallID   string          `json:"tool_call_id"`
	ToolName     string          `json:"tool_name"`
	Result       string          `json:"result"`
	Outcome      string          `json:"outcome"`
	ToolCalls    []pending       `json:"tool_calls"`
	FinishReason string          `json:"finish_reason"`
	ErrorCode    string          `json:"error_code"`
	Error        json.RawMessage `json:"error"`
}

// pending is a call that waits for a decision.
type pending struct {
	ID     string `json:"tool_call_id"`
	Name   string `json:"tool_name"`
	Digest string `json:"digest"`
}

// approval is the body of a resume that approves all of them.
func approval(session string, calls []pending) map[string]any {
	decisions := []map[string]string{}
	for _, c := range calls {
		decisions = append(decisions, map[string]string{
			"tool_call_id": c.ID, "tool_name": c.Name, "decision": "approved", "digest": c.Digest,
		})
	}
	return map[string]any{"session_id": session, "tool_call_results": decisions}
}
