package toolbox

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/mcp"
)

// progressWaiting is how much progress may wait for a caller that reads slowly; more is dropped.
const progressWaiting = 16

// CallServiceTool implements ToolboxService.
func (s *Server) CallServiceTool(req *agentv1.CallServiceToolRequest, stream grpc.ServerStreamingServer[agentv1.CallServiceToolResponse]) error {
	call := &agentv1.CallToolRequest{ToolName: req.GetKey(), ToolArgsJson: req.GetArgumentsJson(), Consent: req.GetConsent()}
	user, args, err := s.request(stream.Context(), call)
	if err != nil {
		return err
	}
	if !tool.OfService(req.GetKey()) {
		return invalid("key is %.64q, which is none of a service's tool", req.GetKey())
	}
	ctx, stop := context.WithCancel(stream.Context())
	defer stop()
	type end struct {
		answer *agentv1.CallToolResponse
		err    error
	}
	said, ended := make(chan []byte, progressWaiting), make(chan end, 1)
	go func() { // ends with the call, which ctx ends
		answer, err := s.onSaved(ctx, user, call, args, func(params []byte) {
			select {
			case said <- params:
			default:
			}
		})
		ended <- end{answer, err}
	}()
	send := func(params []byte) error {
		return stream.Send(&agentv1.CallServiceToolResponse{Kind: &agentv1.CallServiceToolResponse_ProgressJson{ProgressJson: params}})
	}
	for {
		select {
		case params := <-said:
			if err := send(params); err != nil {
				stop()
				<-ended
				return err
			}
		case e := <-ended:
			for e.err == nil && len(said) > 0 { // what it said before it answered
				if err := send(<-said); err != nil {
					return err
				}
			}
			if e.err != nil {
				return e.err
			}
			return stream.Send(&agentv1.CallServiceToolResponse{Kind: &agentv1.CallServiceToolResponse_Answer{Answer: e.answer}})
		}
	}
}

// ListServicePrompts implements ToolboxService.
func (s *Server) ListServicePrompts(ctx context.Context, _ *agentv1.ListServicePromptsRequest) (*agentv1.ListServicePromptsResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	within, stop := context.WithTimeout(ctx, listWithin)
	defer stop()
	prompts, problems, err := s.MCP.Prompts(within, user)
	if err != nil {
		return nil, err
	}
	out := &agentv1.ListServicePromptsResponse{Problems: problems}
	seen, size := map[string]bool{}, 0
	for _, p := range prompts {
		if seen[p.Key] {
			continue
		}
		if size += len(p.Definition); size > maxListed {
			out.Problems = append(out.Problems, fmt.Sprintf("The prompts from %q of %q on are left out: there are too many", p.Name, p.Server))
			break
		}
		seen[p.Key] = true
		out.Prompts = append(out.Prompts, &agentv1.ServicePrompt{Key: p.Key, Service: p.Server, Name: p.Name, Definition: p.Definition})
	}
	return out, nil
}

// GetServicePrompt implements ToolboxService. A server that cannot be reached is a result, not an error.
func (s *Server) GetServicePrompt(ctx context.Context, req *agentv1.GetServicePromptRequest) (*agentv1.GetServicePromptResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	if !tool.OfPrompt(req.GetKey()) {
		return nil, invalid("key is %.64q, which is none of a prompt", req.GetKey())
	}
	got, err := s.MCP.Prompt(ctx, user, req.GetKey(), req.GetArguments())
	var failed *mcp.Error
	if errors.As(err, &failed) {
		return &agentv1.GetServicePromptResponse{Problem: failed.Message}, nil
	}
	return &agentv1.GetServicePromptResponse{Result: got}, err
}

// WatchServices implements ToolboxService.
func (s *Server) WatchServices(_ *agentv1.WatchServicesRequest, stream grpc.ServerStreamingServer[agentv1.WatchServicesResponse]) error {
	user, err := auth.BehalfOf(stream.Context())
	if err != nil {
		return err
	}
	return s.MCP.Watch(stream.Context(), user, func(c mcp.Change) error {
		return stream.Send(&agentv1.WatchServicesResponse{Tools: c.Tools, Prompts: c.Prompts})
	})
}
