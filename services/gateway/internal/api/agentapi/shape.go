package agentapi

import (
	"encoding/json"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// The shapes of bodies, as [jsonrpc.Decode] reads them. None has a user: that comes from the token.

type invokeBody struct {
	Message         string         `json:"message"`
	Model           *modelBody     `json:"llm_config"`
	SessionID       string         `json:"session_id"`
	Mode            string         `json:"mode"`
	Tools           []sourceBody   `json:"tools"`
	ChatHistory     []messageBody  `json:"chat_history"`
	PreferredNodeID string         `json:"preferred_node_id"`
	OnDisconnect    string         `json:"on_disconnect"`
	MaxSteps        int32          `json:"max_steps"`
	Interrupts      jsonrpc.Object `json:"tool_interrupt_config"`
	Replaces        bool           `json:"replaces"`
	KnowledgeBases  []string       `json:"knowledge_base_ids"`

	EnableMemory *bool  `json:"enable_memory"`
	ProjectID    string `json:"project_id"`

	Skills json.RawMessage `json:"skills"` // an object, or a list of names
}

type skillsBody struct {
	Names     []string `json:"names"`
	Auto      *bool    `json:"auto"`
	MaxActive *int32   `json:"max_active"`
}

type resumeBody struct {
	SessionID    string         `json:"session_id"`
	Model        *modelBody     `json:"llm_config"`
	HumanOrder   string         `json:"human_order"`
	NodeID       string         `json:"node_id"`
	OnDisconnect string         `json:"on_disconnect"`
	Decisions    []decisionBody `json:"tool_call_results"`
	Interrupts   jsonrpc.Object `json:"tool_interrupt_config"`
}

type modelBody struct {
	BaseURL       string   `json:"baseUrl" also:"base_url"`
	APIKey        string   `json:"apiKey" also:"api_key"`
	ModelName     string   `json:"modelName" also:"model_name"`
	Temperature   *float64 `json:"temperature"`
	ContextWindow int32    `json:"contextWindow" also:"context_window"`
}

// sourceBody is an entry of tools, of which there are two types: mcp and oauth.
type sourceBody struct {
	Type          string            `json:"type"`
	Name          string            `json:"name" also:"provider"` // OAuth says either
	BaseURL       string            `json:"base_url"`
	TransportType string            `json:"transport_type"`
	APIKey        string            `json:"api_key"`
	Headers       map[string]string `json:"headers"`
	Command       string            `json:"command"`
	Args          []string          `json:"args"`
	Env           map[string]string `json:"env"`
	Prompts       []string          `json:"prompts"`
	AccessToken   string            `json:"access_token"`
	RefreshToken  string            `json:"refresh_token"`
	ExpiresAt     float64           `json:"expires_at"`
}

type messageBody struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type decisionBody struct {
	ToolCallID string         `json:"tool_call_id"`
	ToolName   string         `json:"tool_name"`
	Decision   string         `json:"decision"`
	Reason     string         `json:"reason"`
	ToolArgs   jsonrpc.Object `json:"tool_args" also:"parameters"`
	Digest     string         `json:"digest"`
	NodeID     string         `json:"node_id"`
}

// ruleBody tells a rule of tool_interrupt_config from the name of a tool: see interruptRule.
type ruleBody struct {
	Enabled           json.RawMessage `json:"enabled"`
	RequiresInterrupt json.RawMessage `json:"requires_interrupt"`
}
