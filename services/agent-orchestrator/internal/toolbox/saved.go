package toolbox

import (
	"context"
	"log/slog"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/mcp"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/oauth"
)

// Store stores tools (package store).
type Store interface {
	ListTools(ctx context.Context, user ids.UserID) ([]store.SavedTool, error)
	GetTool(ctx context.Context, user ids.UserID, id string) (store.SavedTool, error)
	CreateTool(ctx context.Context, t store.SavedTool) (store.SavedTool, error)
	UpdateTool(ctx context.Context, t store.SavedTool) (store.SavedTool, error)
	DeleteTool(ctx context.Context, user ids.UserID, id string) error
	ToolsInClear(ctx context.Context, after store.SavedTool, limit int) ([]store.SavedTool, error)
	SealTool(ctx context.Context, t store.SavedTool) error
	UseOnce(ctx context.Context, mark string, until time.Time) (first bool, err error)
}

// Saved gives runs what their users have saved and enabled.
type Saved struct {
	// static after construction
	store Store
	codec codec
	log   *slog.Logger
}

var (
	_ mcp.Saved   = (*Saved)(nil)
	_ oauth.Saved = (*Saved)(nil)
)

// SavedOptions are what a Saved works with.
type SavedOptions struct {
	// Store and Box are required.
	Store Store
	Box   *seal.Box
	// Logger hears of saved tools that cannot be read; nil discards.
	Logger *slog.Logger
}

// NewSaved checks the options and returns a Saved.
func NewSaved(o SavedOptions) (*Saved, error) {
	if err := options.Require("toolbox", map[string]bool{"Store": o.Store == nil, "Box": o.Box == nil}); err != nil {
		return nil, err
	}
	return &Saved{store: o.Store, codec: codec{o.Box}, log: obs.OrDiscard(o.Logger)}, nil
}

// Servers implements mcp.Saved.
func (s *Saved) Servers(ctx context.Context, user ids.UserID) (list []mcp.Server, err error) {
	err = s.each(ctx, user, typeMCP, func(t store.SavedTool, o open, sec secrets) {
		list = append(list, mcp.Server{McpServer: server(t, o, sec), ID: t.ID, Trusted: o.Trusted})
	})
	return list, err
}

// Grants implements oauth.Saved.
func (s *Saved) Grants(ctx context.Context, user ids.UserID) (list []*agentv1.OAuthGrant, err error) {
	err = s.each(ctx, user, typeOAuth, func(t store.SavedTool, o open, sec secrets) { list = append(list, grant(t, o, sec)) })
	return list, err
}

// each calls a function with each of the user's enabled tools of a type. A tool that cannot be read is logged and left out.
func (s *Saved) each(ctx context.Context, user ids.UserID, kind string, with func(store.SavedTool, open, secrets)) error {
	tools, err := s.store.ListTools(ctx, user)
	if err != nil {
		return err
	}
	for _, t := range tools {
		if t.Type != kind || !t.Enabled {
			continue
		}
		o, sec, err := s.codec.read(t)
		if err == nil {
			with(t, o, sec)
			if !o.empty() { // a pod of an earlier version has written it since this pod started
				s.seal(ctx, t)
			}
			continue
		}
		s.log.ErrorContext(ctx, "a saved tool cannot be read", "tool", t.ID, "error", err)
	}
	return nil
}

// Rotate implements oauth.Saved.
func (s *Saved) Rotate(ctx context.Context, user ids.UserID, provider, oldRefresh string, token oauth.Token) error {
	tools, err := s.store.ListTools(ctx, user)
	if err != nil {
		return err
	}
	for _, t := range tools {
		if t.Type != typeOAuth || t.Name != provider {
			continue
		}
		o, sec, err := s.codec.read(t)
		if err != nil || sec.RefreshToken != oldRefresh {
			return err
		}
		sec.AccessToken, sec.RefreshToken, o.ExpiresAt = token.Access, token.Refresh, 0
		if !token.Expires.IsZero() {
			o.ExpiresAt = token.Expires.Unix()
		}
		if err := s.codec.write(&t, o, sec); err != nil {
			return err
		}
		_, err = s.store.UpdateTool(ctx, t)
		return err
	}
	return nil
}
