package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hecaton-dev/hecaton/pkg/tool/toolname"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

const (
	// maxDescription and maxParameters bound what a model is told of a tool, in bytes.
	maxDescription = 4 << 10
	maxParameters  = 16 << 10
)

// confirmMeta in a tool's _meta marks that a person has to be asked before it runs.
const confirmMeta = "hecaton/requires_confirmation"

// newTool returns a server's tool as a run has it.
func newTool(s *server, t *sdk.Tool) *remote {
	spec := tool.Spec{
		Name: t.Name, Description: description(s.config.GetName(), t.Description), Parameters: parameters(t.InputSchema),
		Layer: tool.MCP, Category: tool.Service, Server: s.config.GetName(), Timeout: callTimeout,
	}
	spec.Fingerprint = fingerprint(s.config, t)
	if a := t.Annotations; a != nil {
		// Only a server that the user trusts can say that a tool does no harm. Any server can say that it may do harm.
		spec.ReadOnly = s.trusted && a.ReadOnlyHint
		spec.Confirm = !a.ReadOnlyHint && a.DestructiveHint != nil && *a.DestructiveHint
	}
	if asks, ok := t.Meta[confirmMeta].(bool); ok && asks {
		spec.Confirm = true
	}
	return &remote{spec: spec, listed: t, server: s}
}

// description gives a model the server's description of a tool, marked as the server's words.
func description(server, text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return fmt.Sprintf("A tool of the MCP server %s, which does not describe it.", tool.Quote(server, toolname.MaxBytes))
	}
	return fmt.Sprintf("A tool of the MCP server %s, which describes it so: %s", tool.Quote(server, toolname.MaxBytes), tool.Quote(text, maxDescription))
}

// fingerprint changes when anything that a server says of a tool changes, or the server's address does. It does not depend on
// the server's secrets, which may be renewed.
func fingerprint(c *agentv1.McpServer, t *sdk.Tool) string {
	address := []string{transportType(c), c.GetBaseUrl()}
	if transportType(c) == Stdio {
		address = append([]string{Stdio, c.GetCommand()}, c.GetArgs()...)
	}
	raw, err := json.Marshal(map[string]any{"address": address, "tool": t}) // maps are written in the order of their keys
	if err != nil {
		return "" // cannot happen: it was decoded from JSON
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// parameters is a tool's schema, or one that takes any object if the server's is too long or not the schema of an object.
func parameters(schema any) json.RawMessage {
	if m, ok := schema.(map[string]any); ok && m["type"] == "object" {
		if raw, err := json.Marshal(m); err == nil && len(raw) <= maxParameters {
			return raw
		}
	}
	return json.RawMessage(`{"type":"object"}`)
}
