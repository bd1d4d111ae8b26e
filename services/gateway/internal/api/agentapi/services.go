package agentapi

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// ServiceTools lists the tools of the MCP servers and OAuth grants that a user has saved. Those that are away are left out.
func (a *API) ServiceTools(ctx context.Context, user ids.UserID) ([]*agentv1.ServiceTool, error) {
	resp, err := a.toolbox.ListServiceTools(auth.OnBehalf(ctx, user), &agentv1.ListServiceToolsRequest{})
	return resp.GetTools(), errs.FromGRPC(err)
}

// CallService calls such a tool by its key, where consent, if there is one, has the call admitted. An error that is no *[errs.Error]
// says that the tool may have run.
func (a *API) CallService(
	ctx context.Context, user ids.UserID, key string, arguments []byte, consent *agentv1.Consent,
) (*agentv1.CallToolResponse, error) {
	resp, err := a.toolbox.CallTool(auth.OnBehalf(ctx, user), &agentv1.CallToolRequest{ToolName: key, ToolArgsJson: arguments, Consent: consent})
	return resp, errs.FromGRPC(err)
}
