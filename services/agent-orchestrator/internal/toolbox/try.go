package toolbox

import (
	"context"
	"errors"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/mcp"
)

// ValidateMcp implements ToolboxService.
func (s *Server) ValidateMcp(ctx context.Context, req *agentv1.ValidateMcpRequest) (*agentv1.ValidateMcpResponse, error) {
	if _, err := auth.BehalfOf(ctx); err != nil {
		return nil, err
	}
	if err := ids.Check("name", req.GetName()); err != nil {
		return nil, err
	}
	config := &agentv1.McpServer{
		Name: req.GetName(), BaseUrl: req.GetBaseUrl(), TransportType: req.GetTransportType(), ApiKey: req.GetApiKey(),
		Headers: req.GetHeaders(), Command: req.GetCommand(), Args: req.GetArgs(), Env: req.GetEnv(),
	}
	if err := s.check.server(config); err != nil {
		return nil, err
	}
	report, err := s.MCP.Validate(ctx, config)
	var failed *mcp.Error
	switch {
	case errors.As(err, &failed):
		return &agentv1.ValidateMcpResponse{Status: "failed", Error: failed.Message}, nil
	case err != nil:
		return nil, err
	}
	return &agentv1.ValidateMcpResponse{
		Success: true, Status: "connected",
		Tools: items(report.Tools), ToolCount: int32(len(report.Tools)),
		Prompts: items(report.Prompts), PromptCount: int32(len(report.Prompts)),
	}, nil
}

func items(list []mcp.Item) []*agentv1.ValidateMcpResponse_Item {
	out := make([]*agentv1.ValidateMcpResponse_Item, len(list))
	for i, item := range list {
		out[i] = &agentv1.ValidateMcpResponse_Item{Name: item.Name, Description: item.Description}
	}
	return out
}
