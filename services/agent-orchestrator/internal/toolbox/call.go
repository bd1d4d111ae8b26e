package toolbox

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolresult"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/admission"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// CallTool implements ToolboxService. A name means a tool of a connected node, with node_id a tool of that node; only if no
// node has it, a tool of an OAuth grant or MCP server. The key of a tool of a grant or server (package tool) always means
// that tool.
func (s *Server) CallTool(ctx context.Context, req *agentv1.CallToolRequest) (*agentv1.CallToolResponse, error) {
	user, args, err := s.request(ctx, req)
	if err != nil {
		return nil, err
	}
	node := &toolv1.Call{
		UserId: string(user), NodeId: req.GetNodeId(), SessionId: req.GetSessionId(), ToolName: req.GetToolName(), ArgumentsJson: args,
	}
	if req.GetConsent() != nil && !tool.OfService(req.GetToolName()) {
		return nil, invalid("with consent, tool_name must be the key of a service's tool")
	}
	if req.GetNodeId() != "" {
		return s.onNode(ctx, node)
	}
	if tool.OfService(req.GetToolName()) {
		return s.onSaved(ctx, user, req, args, nil)
	}
	listed, nodesErr := s.Gateways.ListNodes(ctx, &toolv1.ListNodesRequest{UserId: string(user)})
	silent := len(listed.GetNodes()) == 0 // the node may have the tool, but has not listed it
	for _, n := range listed.GetNodes() {
		offered := n.GetInfo().GetAvailableTools()
		if slices.Contains(offered, req.GetToolName()) {
			return s.onNode(ctx, node)
		}
		silent = silent || len(offered) == 0
	}
	answer, err := s.onSaved(ctx, user, req, args, nil)
	switch {
	case !errors.Is(err, errs.ToolNotFound):
		return answer, err
	case nodesErr != nil:
		return nil, nodesErr
	case silent:
		return s.onNode(ctx, node)
	}
	return nil, err
}

func (s *Server) request(ctx context.Context, req *agentv1.CallToolRequest) (ids.UserID, []byte, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return "", nil, err
	}
	if err := ids.Check("tool_name", req.GetToolName()); err != nil {
		return "", nil, err
	}
	for field, id := range map[string]string{"session_id": req.GetSessionId(), "node_id": req.GetNodeId()} {
		if id == "" {
			continue
		}
		if err := ids.Check(field, id); err != nil {
			return "", nil, err
		}
	}
	args := req.GetToolArgsJson()
	if len(args) == 0 {
		args = []byte("{}")
	}
	if err := jsonrpc.ValidRequest(args); err != nil || !jsonrpc.IsObject(args) {
		return "", nil, invalid("tool_args must be a JSON object that nests no deeper than %d", jsonrpc.MaxRequestDepth)
	}
	return user, args, nil
}

// onNode calls a connector tool. If the call was not answered, the error is an *errs.Error.
func (s *Server) onNode(ctx context.Context, call *toolv1.Call) (*agentv1.CallToolResponse, error) {
	answer, err := s.Gateways.Call(ctx, call)
	if err != nil {
		return nil, err
	}
	if raw := answer.GetErrorJson(); raw != nil {
		var e struct {
			Code    json.Number `json:"code"`
			Message string      `json:"message"`
		}
		_ = json.Unmarshal(raw, &e) // any other form is in the result
		return respond(false, json.RawMessage(raw), fmt.Sprintf("%s (error %s)", e.Message, e.Code))
	}
	result, success := toolresult.View(answer.GetResultJson())
	return respond(success, result, "")
}

// onSaved calls a tool of a server or grant that the user has saved and enabled.
func (s *Server) onSaved(
	ctx context.Context, user ids.UserID, req *agentv1.CallToolRequest, args []byte, progress func([]byte),
) (*agentv1.CallToolResponse, error) {
	scope := tool.Scope{User: user, Session: ids.SessionID(req.GetSessionId())}
	listing, err := s.OAuth.Tools(ctx, scope)
	if err != nil {
		return nil, err
	}
	found := tool.Find(listing.Tools, req.GetToolName())
	if found == nil { // servers are connected only if nothing else has the tool, and may have it
		if tool.OfService(req.GetToolName()) {
			scope.Key = req.GetToolName()
		}
		servers, err := s.MCP.Tools(ctx, scope)
		if err != nil {
			return nil, err
		}
		if servers.Close != nil {
			defer servers.Close()
		}
		tools, _ := tool.Label(append(listing.Tools, servers.Tools...))
		found = tool.Find(tools, req.GetToolName())
		switch {
		case found != nil:
		case scope.Key != "" && len(servers.Problems) > 0: // its server is away
			return failed(&tool.Failure{Outcome: tool.NotDelivered, Message: strings.Join(servers.Problems, "; ")})
		default:
			return nil, errs.New(errs.ToolNotFound, "%s", strings.Join(append([]string{
				fmt.Sprintf("no connected node and no saved tool has %q", req.GetToolName()),
			}, servers.Problems...), "; "))
		}
	}
	if req.GetConsent() != nil {
		admitted, err := s.Admitter.Admit(ctx, admission.Call{User: user, Spec: found.Spec(), Args: args}, req.GetConsent())
		if err != nil || admitted.GetVerdict() != agentv1.Admission_VERDICT_RUN {
			return &agentv1.CallToolResponse{Admission: admitted}, err
		}
	}
	result, err := found.Call(ctx, tool.Invocation{User: user, Session: scope.Session, CallID: newID(), Args: args, Progress: progress})
	var failure *tool.Failure
	switch {
	case errors.As(err, &failure):
		return failed(failure)
	case err != nil:
		return nil, err
	}
	return respond(!result.IsError, view(result), "")
}

// failed answers for a call that was not answered: with an error, if package errs has a reason for it.
func failed(f *tool.Failure) (*agentv1.CallToolResponse, error) {
	switch {
	case errs.Reason(f.Reason).OfCall():
		return nil, errs.New(errs.Reason(f.Reason), "%s", f.Message)
	case f.Outcome == tool.Invalid:
		return nil, invalid("%s", f.Message)
	}
	return respond(false, map[string]any{"outcome": f.Outcome}, f.Message)
}

// view is a result in the form of a node's: content and the texts joined.
func view(r tool.Result) any {
	content := []any{}
	if r.Text != "" {
		content = append(content, map[string]any{"type": "text", "text": r.Text})
	}
	for _, a := range r.Artifacts {
		data := base64.StdEncoding.EncodeToString(a.Data)
		if a.Type == "image" {
			content = append(content, map[string]any{"type": "image", "data": data, "mimeType": a.MIMEType})
			continue
		}
		content = append(content, map[string]any{
			"type": "resource", "resource": map[string]any{"uri": "file:///" + a.Name, "mimeType": a.MIMEType, "blob": data},
		})
	}
	shown := map[string]any{"content": content, "text": r.Text, "isError": r.IsError}
	if r.Structured != nil {
		shown["structuredContent"] = r.Structured
	}
	return shown
}

// respond answers with a result: JSON as it is, or a value that is encoded as JSON.
func respond(success bool, result any, message string) (*agentv1.CallToolResponse, error) {
	raw, ok := result.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(result); err != nil {
			return nil, fmt.Errorf("toolbox: the result of a tool: %w", err)
		}
	}
	return &agentv1.CallToolResponse{Success: success, ResultJson: raw, Error: message}, nil
}
