package grpcapi

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/allowlist"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// GetApprovalSettings implements AgentService.
func (s *Server) GetApprovalSettings(
	ctx context.Context, _ *agentv1.GetApprovalSettingsRequest,
) (*agentv1.GetApprovalSettingsResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	settings, err := s.settings(ctx, user)
	if err != nil {
		return nil, err
	}
	return &agentv1.GetApprovalSettingsResponse{Settings: settings}, nil
}

// UpdateApprovalSettings implements AgentService.
func (s *Server) UpdateApprovalSettings(
	ctx context.Context, req *agentv1.UpdateApprovalSettingsRequest,
) (*agentv1.UpdateApprovalSettingsResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	in := req.GetSettings()
	if err := checkSettings(in); err != nil {
		return nil, err
	}
	kept, err := s.Settings.ApprovalSettings(ctx, user)
	if err != nil {
		return nil, err
	}
	wanted := make([]store.AllowedTool, len(in.GetAllowed()))
	for i, t := range in.GetAllowed() {
		wanted[i] = store.AllowedTool{Layer: t.GetLayer(), Source: t.GetSource(), Tool: t.GetTool(), Fingerprint: t.GetFingerprint()}
	}
	to := store.ApprovalSettings{Mode: in.GetMode()}
	if to.Allowed, err = s.Allowlist.Resolve(ctx, user, kept.Allowed, in.GetAllowlist(), wanted); err != nil {
		return nil, err
	}
	if err := s.Settings.SetApprovalSettings(ctx, user, to); err != nil {
		return nil, err
	}
	s.Approvals.Tell(ctx, user)
	settings, err := s.settings(ctx, user)
	if err != nil {
		return nil, err
	}
	return &agentv1.UpdateApprovalSettingsResponse{Settings: settings}, nil
}

func (s *Server) settings(ctx context.Context, user ids.UserID) (*agentv1.ApprovalSettings, error) {
	kept, err := s.Settings.ApprovalSettings(ctx, user)
	if err != nil {
		return nil, err
	}
	out := &agentv1.ApprovalSettings{Mode: kept.Mode, Allowlist: allowlist.NamesOf(kept.Allowed)}
	for _, t := range kept.Allowed {
		if t.Layer != "" {
			out.Allowed = append(out.Allowed, &agentv1.AllowedTool{Layer: t.Layer, Source: t.Source, Tool: t.Tool, Fingerprint: t.Fingerprint})
		}
	}
	return out, nil
}

// maxFingerprint is how long a fingerprint may be; ours have 64 bytes.
const maxFingerprint = 128

func checkSettings(s *agentv1.ApprovalSettings) error {
	if mode := approval.Mode(s.GetMode()); mode != "" && !mode.Known() {
		return invalid("mode must be one of %s, %s, %s", approval.RunEverything, approval.UseAllowlist, approval.AskEverytime)
	}
	if n := len(s.GetAllowlist()) + len(s.GetAllowed()); n > maxAllowlist {
		return invalid("allowlist and allowed have %d tools, at most %d are allowed", n, maxAllowlist)
	}
	for i, name := range s.GetAllowlist() {
		if err := checkToolName(name); err != nil {
			return invalid("allowlist[%d]: %v", i, err)
		}
	}
	for i, t := range s.GetAllowed() {
		if err := checkAllowed(t); err != nil {
			return invalid("allowed[%d]: %v", i, err)
		}
	}
	return nil
}

func checkAllowed(t *agentv1.AllowedTool) error {
	if err := checkToolName(t.GetTool()); err != nil {
		return err
	}
	if err := oneOf("layer", t.GetLayer(), string(tool.Connector), string(tool.MCP), string(tool.OAuth), string(tool.Builtin)); err != nil {
		return err
	}
	if err := atMost("fingerprint", t.GetFingerprint(), maxFingerprint); err != nil {
		return err
	}
	if t.GetLayer() == string(tool.Builtin) {
		if t.GetSource() != "" {
			return invalid("source must be empty where layer is builtin")
		}
		return nil
	}
	return ids.Check("source", t.GetSource())
}
