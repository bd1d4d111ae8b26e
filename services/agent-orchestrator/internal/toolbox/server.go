package toolbox

import (
	"context"
	"crypto/rand"
	"encoding/hex"

	"google.golang.org/protobuf/proto"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/admission"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/netguard"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/mcp"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/oauth"
)

// Gateways reaches nodes (package toolclient).
type Gateways interface {
	ListNodes(ctx context.Context, req *toolv1.ListNodesRequest) (*toolv1.ListNodesResponse, error)
	Call(ctx context.Context, call *toolv1.Call) (*toolv1.Answer, error)
}

// Options are what a Server works with. All parts are required.
type Options struct {
	Store    Store
	Box      *seal.Box
	Guard    *netguard.Guard
	MCP      *mcp.Source
	OAuth    *oauth.Source
	Gateways Gateways
	// Admitter decides about the calls of MCP clients.
	Admitter *admission.Admitter
	// Changes hears what is saved, and says it; it may be nil where nothing follows from that.
	Changes *Changes
	// Stdio lets users start MCP servers as processes.
	Stdio bool
}

// Server implements ToolboxService. Its errors are those of packages errs and ids.
type Server struct {
	agentv1.UnimplementedToolboxServiceServer
	Options
	codec codec
	check checker
}

// New checks the options and returns a Server.
func New(o Options) (*Server, error) {
	if err := options.Require("toolbox", map[string]bool{
		"Store": o.Store == nil, "Box": o.Box == nil, "Guard": o.Guard == nil, "MCP": o.MCP == nil, "OAuth": o.OAuth == nil,
		"Gateways": o.Gateways == nil, "Admitter": o.Admitter == nil,
	}); err != nil {
		return nil, err
	}
	return &Server{Options: o, codec: codec{o.Box}, check: checker{o.Guard, o.Stdio}}, nil
}

// ListTools implements ToolboxService.
func (s *Server) ListTools(ctx context.Context, _ *agentv1.ListToolsRequest) (*agentv1.ListToolsResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	tools, err := s.Store.ListTools(ctx, user)
	if err != nil {
		return nil, err
	}
	out := &agentv1.ListToolsResponse{}
	for _, t := range tools {
		m, err := s.codec.message(t)
		if err != nil {
			return nil, err
		}
		out.Tools = append(out.Tools, m)
	}
	return out, nil
}

// GetTool implements ToolboxService.
func (s *Server) GetTool(ctx context.Context, req *agentv1.GetToolRequest) (*agentv1.GetToolResponse, error) {
	t, err := s.find(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	m, err := s.codec.message(t)
	return &agentv1.GetToolResponse{Tool: m}, err
}

// find returns a tool of the user who asks.
func (s *Server) find(ctx context.Context, id string) (store.SavedTool, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return store.SavedTool{}, err
	}
	if err := ids.Check("id", id); err != nil {
		return store.SavedTool{}, err
	}
	return s.Store.GetTool(ctx, user, id)
}

// CreateTool implements ToolboxService. A tool is enabled unless it says otherwise.
func (s *Server) CreateTool(ctx context.Context, req *agentv1.CreateToolRequest) (*agentv1.CreateToolResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	in := req.GetTool()
	if err := s.check.form(in); err != nil {
		return nil, err
	}
	t := store.SavedTool{ID: newID(), User: user, Type: in.GetType(), Name: in.GetName(), Enabled: in.Enabled == nil || in.GetEnabled()}
	if err := s.fill(&t, in, open{}, secrets{}); err != nil {
		return nil, err
	}
	if t, err = s.Store.CreateTool(ctx, t); err != nil {
		return nil, err
	}
	s.Changes.Announce(user, t.ID)
	m, err := s.codec.message(t)
	return &agentv1.CreateToolResponse{Tool: m}, err
}

// UpdateTool implements ToolboxService.
func (s *Server) UpdateTool(ctx context.Context, req *agentv1.UpdateToolRequest) (*agentv1.UpdateToolResponse, error) {
	in := req.GetTool()
	t, err := s.find(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if in.GetType() == "" && in != nil { // it cannot change anyway
		in = proto.CloneOf(in)
		in.Type = t.Type
	}
	if err := s.check.form(in); err != nil {
		return nil, err
	}
	if in.GetType() != t.Type {
		return nil, invalid("type is %s and cannot change; create another tool", t.Type)
	}
	kept, sec, err := s.codec.read(t)
	if err != nil {
		return nil, err
	}
	if t.Name = in.GetName(); in.Enabled != nil {
		t.Enabled = in.GetEnabled()
	}
	if err := s.fill(&t, in, kept, sec); err != nil {
		return nil, err
	}
	if t, err = s.Store.UpdateTool(ctx, t); err != nil {
		return nil, err
	}
	s.Changes.Announce(t.User, t.ID)
	m, err := s.codec.message(t)
	return &agentv1.UpdateToolResponse{Tool: m}, err
}

// fill merges a request into the stored tool, checks the result and seals it.
func (s *Server) fill(t *store.SavedTool, in *agentv1.SavedTool, kept open, sec secrets) error {
	o := open{
		Transport: in.GetTransportType(), Prompts: in.GetPrompts(),
		ExpiresAt: int64(in.GetExpiresAt()),
	}
	if t.Type == typeMCP && o.Transport == "" {
		o.Transport = mcp.StreamableHTTP
	}
	if in.AccessToken == nil && in.GetExpiresAt() == 0 {
		o.ExpiresAt = kept.ExpiresAt
	}
	at, err := sec.address.with(in)
	if err != nil {
		return err
	}
	// The user trusts one server, not a name: a server at another address is not trusted.
	if o.Trusted = in.GetTrusted(); in.Trusted == nil {
		o.Trusted = kept.Trusted && kept.Transport == o.Transport && at.same(sec.address)
	}
	sec = sec.with(in)
	sec.address = at
	if err := s.check.whole(t.Type, t.Name, o, sec); err != nil {
		return err
	}
	return s.codec.write(t, o, sec)
}

// DeleteTool implements ToolboxService.
func (s *Server) DeleteTool(ctx context.Context, req *agentv1.DeleteToolRequest) (*agentv1.DeleteToolResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := ids.Check("id", req.GetId()); err != nil {
		return nil, err
	}
	if err := s.Store.DeleteTool(ctx, user, req.GetId()); err != nil {
		return nil, err
	}
	s.Changes.Announce(user, req.GetId())
	return &agentv1.DeleteToolResponse{Success: true}, nil
}

func newID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return "tool_" + hex.EncodeToString(b[:])
}
