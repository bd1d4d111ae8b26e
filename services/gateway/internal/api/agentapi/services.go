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

// CallService calls such a tool by its key, where consent, if there is one, has the call admitted. It hands what the tool says of its
// progress to progress, as the params of a notification without the token. An error that is no *[errs.Error] says that the tool may have
// run.
func (a *API) CallService(
	ctx context.Context, user ids.UserID, key string, arguments []byte, consent *agentv1.Consent, progress func(params []byte),
) (*agentv1.CallToolResponse, error) {
	ctx, stop := context.WithCancel(auth.OnBehalf(ctx, user))
	defer stop()
	stream, err := a.toolbox.CallServiceTool(ctx, &agentv1.CallServiceToolRequest{Key: key, ArgumentsJson: arguments, Consent: consent})
	if err != nil {
		return nil, errs.FromGRPC(err)
	}
	for {
		m, err := stream.Recv()
		if err != nil {
			return nil, errs.FromGRPC(err)
		}
		if answer := m.GetAnswer(); answer != nil {
			return answer, nil
		}
		progress(m.GetProgressJson())
	}
}

// ServicePrompts lists the prompts of the MCP servers that a user has saved. Those that are away are left out.
func (a *API) ServicePrompts(ctx context.Context, user ids.UserID) ([]*agentv1.ServicePrompt, error) {
	resp, err := a.toolbox.ListServicePrompts(auth.OnBehalf(ctx, user), &agentv1.ListServicePromptsRequest{})
	return resp.GetPrompts(), errs.FromGRPC(err)
}

// ServicePrompt gets such a prompt by its key: the members of the result, or a sentence that says why the server did not give it.
func (a *API) ServicePrompt(ctx context.Context, user ids.UserID, key string, arguments map[string]string) (result []byte, problem string, err error) {
	resp, err := a.toolbox.GetServicePrompt(auth.OnBehalf(ctx, user), &agentv1.GetServicePromptRequest{Key: key, Arguments: arguments})
	return resp.GetResult(), resp.GetProblem(), errs.FromGRPC(err)
}

// WatchServices hands each change of what the user's saved services have to each, until ctx ends or the orchestrator does.
func (a *API) WatchServices(ctx context.Context, user ids.UserID, each func(tools, prompts bool)) error {
	stream, err := a.toolbox.WatchServices(auth.OnBehalf(ctx, user), &agentv1.WatchServicesRequest{})
	if err != nil {
		return errs.FromGRPC(err)
	}
	for {
		m, err := stream.Recv()
		if err != nil {
			return errs.FromGRPC(err)
		}
		each(m.GetTools(), m.GetPrompts())
	}
}
