package grpcapi

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/live"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/workspace"
)

// Engine runs agents (package agent).
type Engine interface {
	Invoke(ctx context.Context, user ids.UserID, req *agentv1.InvokeRequest) (agent.Started, error)
	Resume(ctx context.Context, user ids.UserID, req *agentv1.ResumeRequest) (agent.Started, error)
	// Cancel asks for the end of a session's run, or ends its interrupt, and reports whether there was something to end. It
	// does not notify other pods.
	Cancel(ctx context.Context, ref store.Ref) (bool, error)
}

// Sessions reads and changes sessions (package store).
type Sessions interface {
	Session(ctx context.Context, ref store.Ref) (store.Session, error)
	Sessions(ctx context.Context, user ids.UserID, limit int, cursor string) (list []store.Session, next string, err error)
	Messages(ctx context.Context, ref store.Ref, parent string, after, limit int) ([]store.Message, error)
	Delete(ctx context.Context, ref store.Ref) error
}

// Settings reads and changes the settings of users (package store).
type Settings interface {
	ApprovalSettings(ctx context.Context, user ids.UserID) (store.ApprovalSettings, error)
	SetApprovalSettings(ctx context.Context, user ids.UserID, to store.ApprovalSettings) error
}

// Allowlist finds the tools that the entries of an allow-list mean (package allowlist).
type Allowlist interface {
	Resolve(ctx context.Context, user ids.UserID, kept []store.AllowedTool, names []string, wanted []store.AllowedTool) ([]store.AllowedTool, error)
}

// Approvals hears of changed settings (package admission).
type Approvals interface {
	Tell(ctx context.Context, user ids.UserID)
}

// Files are the users' workspaces (package workspace).
type Files interface {
	Get(ctx context.Context, user ids.UserID, path string) (workspace.File, []byte, error)
}

// Options are what a Server works with. All parts are required, unless they say otherwise.
type Options struct {
	Engine    Engine
	Sessions  Sessions
	Settings  Settings
	Allowlist Allowlist
	Approvals Approvals
	Files     Files
	Live      *live.Hub
	// Version is what GetInfo reports; may be empty.
	Version string
	// Logger is told of requests that fail with an internal error; nil discards.
	Logger *slog.Logger
}

// Server implements AgentService.
type Server struct {
	agentv1.UnimplementedAgentServiceServer
	Options
	log      *slog.Logger
	draining atomic.Bool
}

// New checks the options and returns a Server.
func New(o Options) (*Server, error) {
	if err := options.Require("grpcapi", map[string]bool{
		"Engine": o.Engine == nil, "Sessions": o.Sessions == nil, "Settings": o.Settings == nil, "Allowlist": o.Allowlist == nil,
		"Approvals": o.Approvals == nil, "Files": o.Files == nil, "Live": o.Live == nil,
	}); err != nil {
		return nil, err
	}
	return &Server{Options: o, log: obs.OrDiscard(o.Logger)}, nil
}

// Drain makes the server refuse new runs.
func (s *Server) Drain() { s.draining.Store(true) }

// open refuses new runs while the pod drains.
func (s *Server) open() error {
	if s.draining.Load() {
		return errs.New(errs.AgentUnavailable, "this pod is shutting down; ask again")
	}
	return nil
}

// GetInfo implements AgentService.
func (s *Server) GetInfo(context.Context, *agentv1.GetInfoRequest) (*agentv1.GetInfoResponse, error) {
	return &agentv1.GetInfoResponse{Version: s.Version}, nil
}

// refOf returns the session of a request, which must name its user.
func refOf(ctx context.Context, session string) (store.Ref, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return store.Ref{}, err
	}
	return store.Ref{User: user, Session: ids.SessionID(session)}, ids.Check("session_id", session)
}
