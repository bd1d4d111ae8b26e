package agentapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

// invokeRequest reads the body of an invoke, which is validated JSON.
func invokeRequest(body []byte) (*agentv1.InvokeRequest, error) {
	var b invokeBody
	if err := edge.DecodeBody(body, &b); err != nil {
		return nil, err
	}
	req := &agentv1.InvokeRequest{
		Message: b.Message, SessionId: b.SessionID, Mode: b.Mode, ChatHistory: history(b.ChatHistory),
		PreferredNodeId: b.PreferredNodeID, MaxSteps: b.MaxSteps, Replaces: b.Replaces,
		KnowledgeBaseIds: b.KnowledgeBases,
		EnableMemory:     b.EnableMemory, ProjectId: b.ProjectID,
	}
	var required, steps error
	if b.Message == "" {
		required = bad("message is required, a string that is not empty")
	}
	if b.MaxSteps < 0 {
		steps = notCount("max_steps")
	}
	var wrong [5]error
	req.Model, wrong[0] = model(b.Model)
	req.Tools, wrong[1] = toolSources(b.Tools)
	req.OnDisconnect, wrong[2] = onDisconnect(b.OnDisconnect)
	req.ToolInterruptConfig, wrong[3] = interruptRules(b.Interrupts)
	req.Skills, wrong[4] = skillSelection(b.Skills)
	return req, cmp.Or(required, steps, wrong[0], wrong[1], wrong[2], wrong[3], wrong[4],
		checkIDs("session_id", b.SessionID, "preferred_node_id", b.PreferredNodeID, "project_id", b.ProjectID))
}

// resumeRequest reads the body of a resume, which is validated JSON.
func resumeRequest(body []byte) (*agentv1.ResumeRequest, error) {
	var b resumeBody
	if err := edge.DecodeBody(body, &b); err != nil {
		return nil, err
	}
	req := &agentv1.ResumeRequest{SessionId: b.SessionID, HumanOrder: b.HumanOrder}
	for _, d := range b.Decisions {
		req.ToolCallResults = append(req.ToolCallResults, &agentv1.ToolCallDecision{
			ToolCallId: d.ToolCallID, ToolName: d.ToolName, Decision: d.Decision, Reason: d.Reason,
			ToolArgsJson: d.ToolArgs, Digest: d.Digest,
		})
	}
	var required error
	if b.SessionID == "" {
		required = bad("session_id is required, a string that is not empty")
	}
	var wrong [4]error
	req.NodeId, wrong[0] = chosenNode(b.NodeID, b.Decisions)
	req.Model, wrong[1] = model(b.Model)
	req.OnDisconnect, wrong[2] = onDisconnect(b.OnDisconnect)
	if b.Interrupts != nil {
		req.ToolInterruptConfig = &agentv1.InterruptConfig{}
		req.ToolInterruptConfig.Tools, wrong[3] = interruptRules(b.Interrupts)
	}
	return req, cmp.Or(required, wrong[0], wrong[1], wrong[2], wrong[3],
		checkIDs("session_id", b.SessionID, "node_id", req.GetNodeId()))
}

func bad(format string, args ...any) error {
	return &edge.BadRequest{Message: fmt.Sprintf(format, args...)}
}

func notCount(field string) error {
	return bad("%s must be an integer from 0 to %d", field, math.MaxInt32)
}

// chosenNode returns the node of a node selection, which clients name at the top of the body, in each decision, or in both.
func chosenNode(chosen string, decisions []decisionBody) (string, error) {
	for i, d := range decisions {
		if chosen != "" && d.NodeID != "" && d.NodeID != chosen {
			return "", bad("tool_call_results[%d].node_id must be the one node that is chosen, and is not %q", i, chosen)
		}
		chosen = cmp.Or(chosen, d.NodeID)
	}
	return chosen, nil
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

// model returns nil where there is no llm_config.
func model(b *modelBody) (*agentv1.ModelConfig, error) {
	if b == nil {
		return nil, nil
	}
	if b.ContextWindow < 0 {
		return nil, notCount("llm_config.contextWindow")
	}
	return &agentv1.ModelConfig{
		BaseUrl: b.BaseURL, ApiKey: b.APIKey, ModelName: b.ModelName, Temperature: b.Temperature, ContextWindow: b.ContextWindow,
	}, nil
}

// skillSelection reads which skills a request wants: an object, or only their names.
func skillSelection(raw json.RawMessage) (*agentv1.SkillSelection, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	whole := slices.Concat([]byte(`{"skills":`), raw, []byte("}")) // so that an error names the member from the outside
	if raw[0] == '[' {
		var list struct {
			Names []string `json:"skills"`
		}
		err := edge.DecodeBody(whole, &list)
		return &agentv1.SkillSelection{Names: list.Names}, err
	}
	var b struct {
		Skills skillsBody `json:"skills"`
	}
	if err := edge.DecodeBody(whole, &b); err != nil {
		return nil, err
	}
	if b.Skills.MaxActive != nil && *b.Skills.MaxActive < 0 {
		return nil, notCount("skills.max_active")
	}
	return &agentv1.SkillSelection{Names: b.Skills.Names, Auto: b.Skills.Auto, MaxActive: b.Skills.MaxActive}, nil
}

func onDisconnect(word string) (agentv1.InvokeRequest_OnDisconnect, error) {
	switch word {
	case "":
		return agentv1.InvokeRequest_ON_DISCONNECT_UNSPECIFIED, nil
	case "continue":
		return agentv1.InvokeRequest_ON_DISCONNECT_CONTINUE, nil
	case "cancel":
		return agentv1.InvokeRequest_ON_DISCONNECT_CANCEL, nil
	}
	return 0, bad("on_disconnect must be continue or cancel")
}

// toolSources tells the entries of tools apart by their type.
func toolSources(list []sourceBody) (sources []*agentv1.ToolSource, err error) {
	for i, b := range list {
		switch b.Type {
		case "mcp":
			sources = append(sources, &agentv1.ToolSource{Source: &agentv1.ToolSource_Mcp{Mcp: &agentv1.McpServer{
				Name: b.Name, BaseUrl: b.BaseURL, TransportType: b.TransportType, ApiKey: b.APIKey, Headers: b.Headers,
				Command: b.Command, Args: b.Args, Env: b.Env, Prompts: b.Prompts,
			}}})
		case "oauth":
			sources = append(sources, &agentv1.ToolSource{Source: &agentv1.ToolSource_Oauth{Oauth: &agentv1.OAuthGrant{
				Provider: b.Name, AccessToken: b.AccessToken, RefreshToken: b.RefreshToken,
				ExpiresAt: int64(min(max(b.ExpiresAt, 0), 1<<53)),
			}}})
		default:
			return nil, bad("tools[%d].type must be mcp or oauth", i)
		}
	}
	return sources, nil
}

// history reads chat_history. A client may use these two roles only.
func history(list []messageBody) (messages []*agentv1.ChatMessage) {
	for _, m := range list {
		if m.Role == "user" || m.Role == "assistant" {
			messages = append(messages, &agentv1.ChatMessage{Role: m.Role, Content: m.Content})
		}
	}
	return messages
}
