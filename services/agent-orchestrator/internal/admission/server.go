package admission

import (
	"cmp"
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/connector"
)

// Server implements ApprovalService. Its errors are those of packages errs and ids.
type Server struct {
	agentv1.UnimplementedApprovalServiceServer
	*Admitter
}

// maxReason bounds the reason of a rejection, in bytes.
const maxReason = 2 << 10

// Admit implements ApprovalService.
func (s *Server) Admit(ctx context.Context, req *agentv1.AdmitRequest) (*agentv1.AdmitResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	for field, id := range map[string]string{"tool": req.GetTool(), "node": req.GetNode().GetInfo().GetNodeId()} {
		if err := ids.Check(field, id); err != nil {
			return nil, err
		}
	}
	args := req.GetArgumentsJson()
	if len(args) == 0 {
		args = []byte("{}")
	}
	if err := jsonrpc.ValidRequest(args); err != nil || !jsonrpc.IsObject(args) {
		return nil, errs.New(errs.InvalidArgument, "arguments_json must be a JSON object that nests no deeper than %d", jsonrpc.MaxRequestDepth)
	}
	if err := checkConsent(req.GetConsent()); err != nil {
		return nil, err
	}
	admission, err := s.Admitter.Admit(ctx, Call{
		User: user, Args: args,
		Spec: tool.Spec{
			Name: req.GetTool(), Layer: tool.Connector, Category: tool.Device, ReadOnly: tooldef.KnownReadOnly(req.GetTool(), req.GetNode().GetInfo().GetNodeType()),
		},
		At: tool.Place{Node: req.GetNode().GetInfo().GetNodeId(), Mark: connector.Mark(req.GetNode())},
	}, req.GetConsent())
	if err != nil {
		return nil, err
	}
	return &agentv1.AdmitResponse{Admission: admission}, nil
}

func checkConsent(c *agentv1.Consent) error {
	if c.GetApprovalId() != "" {
		if err := ids.Check("approval_id", c.GetApprovalId()); err != nil {
			return err
		}
	}
	if len(c.GetReason()) > maxReason {
		return errs.New(errs.InvalidArgument, "reason has %d bytes, at most %d are allowed", len(c.GetReason()), maxReason)
	}
	return nil
}

// ListApprovals implements ApprovalService.
func (s *Server) ListApprovals(ctx context.Context, _ *agentv1.ListApprovalsRequest) (*agentv1.ListApprovalsResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	waiting, err := s.Store.WaitingCalls(ctx, user)
	if err != nil {
		return nil, err
	}
	out := &agentv1.ListApprovalsResponse{}
	for _, w := range waiting {
		out.Approvals = append(out.Approvals, message(w))
	}
	return out, nil
}

// DecideApproval implements ApprovalService.
func (s *Server) DecideApproval(ctx context.Context, req *agentv1.DecideApprovalRequest) (*agentv1.DecideApprovalResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	consent := &agentv1.Consent{ApprovalId: req.GetId(), Reason: req.GetReason()}
	if err := cmp.Or(ids.Check("id", req.GetId()), checkConsent(consent)); err != nil {
		return nil, err
	}
	found, err := s.Store.CallApproval(ctx, user, req.GetId())
	switch {
	case err != nil:
		return nil, err
	case found.State != store.ApprovalWaiting:
		return nil, errs.New(errs.AlreadyDecided, "the call was decided before: it is %s", found.State)
	case req.GetDigest() != "" && req.GetDigest() != found.Digest:
		return nil, errs.New(errs.DigestDiffers, "the digest is not that of call %q", req.GetId())
	}
	decided, err := s.decide(ctx, found, req.GetDecision(), req.GetReason())
	if err != nil {
		return nil, err
	}
	if decided.State != req.GetDecision() {
		return nil, errs.New(errs.AlreadyDecided, "the call was decided before: it is %s", decided.State)
	}
	return &agentv1.DecideApprovalResponse{Approval: message(decided)}, nil
}

func message(a store.CallApproval) *agentv1.CallApproval {
	return &agentv1.CallApproval{
		Id: a.ID, State: a.State, ToolName: a.Tool, NodeId: a.Node, ToolArgs: a.Args, ArgsCut: a.Cut, Digest: a.Digest, Why: a.Why,
		CreatedAt: timestamppb.New(a.Created), ExpiresAt: timestamppb.New(a.Expires),
	}
}
