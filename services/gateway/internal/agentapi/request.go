package agentapi

import (
	"cmp"
	"encoding/json"
	"fmt"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// invokeRequest reads the body of an invoke (facts, 3). Whose it is, is never in it.
func invokeRequest(body []byte) (*agentv1.InvokeRequest, error) {
	o, err := parse(body)
	if err != nil {
		return nil, err
	}
	req := &agentv1.InvokeRequest{
		Message:         o.text("message"),
		Model:           model(o.object("llm_config")),
		SessionId:       o.text("session_id"),
		Mode:            o.text("mode"),
		Tools:           toolSources(o.list("tools")),
		ChatHistory:     history(o.list("chat_history")),
		PreferredNodeId: o.text("preferred_node_id"),
		OnDisconnect:    onDisconnect(o),
		MaxSteps:        o.count("max_steps"),
		Replaces:        o.flag("replaces"),
	}
	req.ToolInterruptConfig, _ = interruptRules(o, "tool_interrupt_config")
	if req.GetMessage() == "" {
		o.fail("message", "is required, a string that is not empty")
	}
	if *o.wrong != nil {
		return nil, *o.wrong
	}
	return req, checkIDs("session_id", req.GetSessionId(), "preferred_node_id", req.GetPreferredNodeId())
}

// resumeRequest reads the body of a resume (facts, 5.3).
func resumeRequest(body []byte) (*agentv1.ResumeRequest, error) {
	o, err := parse(body)
	if err != nil {
		return nil, err
	}
	req := &agentv1.ResumeRequest{
		SessionId:    o.text("session_id"),
		Model:        model(o.object("llm_config")),
		HumanOrder:   o.text("human_order"),
		NodeId:       o.text("node_id"),
		OnDisconnect: onDisconnect(o),
	}
	for _, d := range o.list("tool_call_results") {
		req.ToolCallResults = append(req.ToolCallResults, &agentv1.ToolCallDecision{
			ToolCallId: d.text("tool_call_id"), ToolName: d.text("tool_name"), Decision: d.text("decision"),
			Reason: d.text("reason"), ToolArgsJson: d.raw("tool_args", "parameters"), Digest: d.text("digest"),
		})
		req.NodeId = chosenNode(req.GetNodeId(), d)
	}
	if rules, given := interruptRules(o, "tool_interrupt_config"); given {
		req.ToolInterruptConfig = &agentv1.InterruptConfig{Tools: rules}
	}
	if req.GetSessionId() == "" {
		o.fail("session_id", "is required, a string that is not empty")
	}
	if *o.wrong != nil {
		return nil, *o.wrong
	}
	return req, checkIDs("session_id", req.GetSessionId(), "node_id", req.GetNodeId())
}

// chosenNode returns the node of a node selection, which clients name at the top of the body, in each decision, or in both.
func chosenNode(before string, d object) string {
	chosen := d.text("node_id")
	if before != "" && chosen != "" && chosen != before {
		d.fail("node_id", fmt.Sprintf("must be the one node that is chosen, and is not %q", before))
	}
	return cmp.Or(before, chosen)
}

// checkIDs takes pairs of a field's name and an id, which may be left out.
func checkIDs(pairs ...string) error {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		if err := ids.Check(pairs[i], pairs[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// model reads llm_config; nil where nothing is in it.
func model(o object) *agentv1.ModelConfig {
	if o.members == nil {
		return nil
	}
	return &agentv1.ModelConfig{
		BaseUrl:       o.text("baseUrl", "base_url"),
		ApiKey:        o.text("apiKey", "api_key"),
		ModelName:     o.text("modelName", "model_name"),
		Temperature:   o.number("temperature"),
		ContextWindow: o.count("contextWindow", "context_window"),
	}
}

func onDisconnect(o object) agentv1.InvokeRequest_OnDisconnect {
	switch o.text("on_disconnect") {
	case "":
		return agentv1.InvokeRequest_ON_DISCONNECT_UNSPECIFIED
	case "continue":
		return agentv1.InvokeRequest_ON_DISCONNECT_CONTINUE
	case "cancel":
		return agentv1.InvokeRequest_ON_DISCONNECT_CANCEL
	}
	o.fail("on_disconnect", "must be continue or cancel")
	return 0
}

// toolSources reads tools[], whose entries their type tells apart (facts, 3.1).
func toolSources(list []object) (sources []*agentv1.ToolSource) {
	for _, o := range list {
		switch o.text("type") {
		case "mcp":
			sources = append(sources, &agentv1.ToolSource{Source: &agentv1.ToolSource_Mcp{Mcp: &agentv1.McpServer{
				Name: o.text("name"), BaseUrl: o.text("base_url"), TransportType: o.text("transport_type"),
				ApiKey: o.text("api_key"), Headers: o.textsByName("headers"),
				Command: o.text("command"), Args: o.texts("args"), Env: o.textsByName("env"), Prompts: o.texts("prompts"),
			}}})
		case "oauth":
			grant := &agentv1.OAuthGrant{
				Provider: o.text("name", "provider"), AccessToken: o.text("access_token"), RefreshToken: o.text("refresh_token"),
			}
			if at := o.number("expires_at"); at != nil {
				grant.ExpiresAt = int64(min(max(*at, 0), 1<<53))
			}
			sources = append(sources, &agentv1.ToolSource{Source: &agentv1.ToolSource_Oauth{Oauth: grant}})
		default:
			o.fail("type", "must be mcp or oauth")
		}
	}
	return sources
}

// history reads chat_history. Of other roles than these two, a client has nothing to tell the model.
func history(list []object) (messages []*agentv1.ChatMessage) {
	for _, o := range list {
		m := &agentv1.ChatMessage{Role: o.text("role"), Content: o.text("content")}
		if m.GetRole() == "user" || m.GetRole() == "assistant" {
			messages = append(messages, m)
		}
	}
	return messages
}

// interruptRules reads tool_interrupt_config: rules by tool, or one level deeper under any key (facts, 5.2). What a rule
// leaves open is read as a wish to be asked.
func interruptRules(o object, name string) (rules map[string]*agentv1.InterruptRule, given bool) {
	config := o.object(name)
	rules = map[string]*agentv1.InterruptRule{}
	for tool := range config.members {
		entry := config.object(tool)
		if rule := interruptRule(entry); rule != nil {
			rules[tool] = rule
			continue
		}
		for inner := range entry.members {
			if rule := interruptRule(entry.object(inner)); rule != nil {
				rules[inner] = rule
			}
		}
	}
	return rules, config.members != nil
}

// interruptRule returns nil for what is no rule: neither of its members is there, or they hold objects, being names of
// tools.
func interruptRule(o object) *agentv1.InterruptRule {
	rule := &agentv1.InterruptRule{Enabled: true, RequiresInterrupt: true}
	found := false
	for name, into := range map[string]*bool{"enabled": &rule.Enabled, "requires_interrupt": &rule.RequiresInterrupt} {
		raw := o.members[name]
		if isNull(raw) || raw[0] == '{' {
			continue
		}
		found = true
		if json.Unmarshal(raw, into) != nil {
			o.fail(name, "must be true or false")
		}
	}
	if !found {
		return nil
	}
	return rule
}
