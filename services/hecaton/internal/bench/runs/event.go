package runs

import "encoding/json"

// event is what counts of an event of a run (docs/protocols/zeus-agents.md#events).
type event struct {
	Type         string          `json:"type"`
	Seq          int64           `json:"seq"`
	ToolCallID   string          `json:"tool_call_id"`
	ToolName     string          `json:"tool_name"`
	Result       string          `json:"result"`
	Outcome      string          `json:"outcome"`
	Reason       string          `json:"reason"`
	ToolCalls    []pending       `json:"tool_calls"`
	Nodes        []choice        `json:"available_nodes"`
	FinishReason string          `json:"finish_reason"`
	ErrorCode    string          `json:"error_code"`
	Content      json.RawMessage `json:"content"` // of a complete what the model said; a list where it is a result's
}

// pending is a call that waits for a decision.
type pending struct {
	ID     string `json:"tool_call_id"`
	Name   string `json:"tool_name"`
	Digest string `json:"digest"`
}

// choice is a node to choose.
type choice struct {
	ID string `json:"node_id"`
}

// decision is the body of a resume: it approves the calls that wait, or chooses the first node where that is asked.
func decision(session string, waiting event) map[string]any {
	decisions := []map[string]string{}
	for _, c := range waiting.ToolCalls {
		decisions = append(decisions, map[string]string{
			"tool_call_id": c.ID, "tool_name": c.Name, "decision": "approved", "digest": c.Digest,
		})
	}
	body := map[string]any{"session_id": session, "tool_call_results": decisions}
	if waiting.Reason == "node_selection" && len(waiting.Nodes) > 0 {
		body["node_id"] = waiting.Nodes[0].ID
	}
	return body
}
