package grpcapi

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// Limits of a request. Errors name fields as REST does.
const (
	maxMessage   = 1 << 20 // bytes
	maxOrder     = 64 << 10
	maxReason    = 16 << 10
	maxSteps     = 500
	maxSessions  = 200
	maxAllowlist = 1000
	maxRules     = 1000
	maxDecisions = 1000
	maxSources   = 50
	maxSource    = 64 << 10 // as of a saved tool
	maxURL       = 8 << 10
	maxBases     = 100
)

func invalid(format string, args ...any) error {
	return errs.New(errs.InvalidArgument, format, args...)
}

func between(field string, value, low, high int32) error {
	if value < low || value > high {
		return invalid("%s must be between %d and %d", field, low, high)
	}
	return nil
}

func notNegative(field string, value int64) error {
	if value < 0 {
		return invalid("%s must not be negative", field)
	}
	return nil
}

func atMost(field, text string, limit int) error {
	if len(text) > limit {
		return invalid("%s has %d bytes, at most %d are allowed", field, len(text), limit)
	}
	return nil
}

// oneOf checks a value against those allowed. It may be left out if "" is one of them.
func oneOf(field, value string, allowed ...string) error {
	if !slices.Contains(allowed, value) {
		return invalid("%s must be one of %s", field, strings.TrimPrefix(strings.Join(allowed, ", "), ", "))
	}
	return nil
}

// optional checks an id that may be left out.
func optional(field, id string) error {
	if id == "" {
		return nil
	}
	return ids.Check(field, id)
}

// first returns the first error of several checks.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckInvoke refuses what no run can be begun with; the error names the member.
func CheckInvoke(req *agentv1.InvokeRequest) error {
	if strings.TrimSpace(req.GetMessage()) == "" {
		return invalid("message is empty")
	}
	return first(
		atMost("message", req.GetMessage(), maxMessage),
		optional("session_id", req.GetSessionId()),
		oneOf("mode", req.GetMode(), "", "agent", "ask", "plan"),
		optional("preferred_node_id", req.GetPreferredNodeId()),
		optional("idempotency_key", req.GetIdempotencyKey()),
		between("max_steps", req.GetMaxSteps(), 0, maxSteps),
		checkDisconnect(req.GetOnDisconnect()),
		checkModel(req.GetModel()),
		checkHistory(req.GetChatHistory()),
		checkSources(req.GetTools()),
		checkRules(req.GetToolInterruptConfig()),
		checkBases(req.GetKnowledgeBaseIds()),
	)
}

// checkBases takes ids; whether there are such bases is the knowledge service's to say.
func checkBases(list []string) error {
	if len(list) > maxBases {
		return invalid("knowledge_base_ids has %d ids, at most %d are allowed", len(list), maxBases)
	}
	for _, id := range list {
		if err := ids.Check("knowledge_base_ids", id); err != nil {
			return err
		}
	}
	return nil
}

func checkDisconnect(v agentv1.InvokeRequest_OnDisconnect) error {
	if _, known := agentv1.InvokeRequest_OnDisconnect_name[int32(v)]; !known {
		return invalid("on_disconnect must be one of continue, cancel")
	}
	return nil
}

func checkHistory(history []*agentv1.ChatMessage) error {
	for i, m := range history {
		if role := m.GetRole(); role != "user" && role != "assistant" {
			return invalid("chat_history[%d].role must be one of user, assistant", i)
		}
		if len(m.GetContent()) > maxMessage {
			return invalid("chat_history[%d].content has %d bytes, at most %d are allowed", i, len(m.GetContent()), maxMessage)
		}
	}
	return nil
}

func checkRules(rules map[string]*agentv1.InterruptRule) error {
	if len(rules) > maxRules {
		return invalid("tool_interrupt_config has %d tools, at most %d are allowed", len(rules), maxRules)
	}
	for name := range rules {
		if err := checkToolName(name); err != nil {
			return invalid("tool_interrupt_config: %v", err)
		}
	}
	return nil
}

// checkToolName accepts the names of tools of every layer.
func checkToolName(name string) error { return ids.Check("the name of a tool", name) }

func checkResume(req *agentv1.ResumeRequest) error {
	if n := len(req.GetToolCallResults()); n > maxDecisions {
		return invalid("tool_call_results has %d decisions, at most %d are allowed", n, maxDecisions)
	}
	for i, d := range req.GetToolCallResults() {
		if d.GetToolCallId() == "" {
			return invalid("tool_call_results[%d].tool_call_id is empty", i)
		}
		if len(d.GetReason()) > maxReason || !utf8.ValidString(d.GetReason()) {
			return invalid("tool_call_results[%d].reason must be text of at most %d bytes", i, maxReason)
		}
		if len(d.GetToolArgsJson()) > maxMessage {
			return invalid("tool_call_results[%d].tool_args has %d bytes, at most %d are allowed", i, len(d.GetToolArgsJson()), maxMessage)
		}
	}
	return first(
		atMost("human_order", req.GetHumanOrder(), maxOrder),
		optional("node_id", req.GetNodeId()),
		checkDisconnect(req.GetOnDisconnect()),
		checkModel(req.GetModel()),
		checkRules(req.GetToolInterruptConfig().GetTools()),
	)
}

func checkFollow(req *agentv1.FollowRequest) error {
	if _, known := agentv1.FollowRequest_Until_name[int32(req.GetUntil())]; !known {
		return invalid("until is not one of the known values")
	}
	return notNegative("after_seq", req.GetAfterSeq())
}
