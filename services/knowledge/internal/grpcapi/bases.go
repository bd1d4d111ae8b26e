package grpcapi

import (
	"context"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	knowledgev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/knowledge/v1"
)

// CreateBase implements KnowledgeService.
func (s *Server) CreateBase(ctx context.Context, req *knowledgev1.CreateBaseRequest) (*knowledgev1.CreateBaseResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err := first(err, text("name", req.GetName(), 1, maxName), text("description", req.GetDescription(), 0, maxDescription)); err != nil {
		return nil, err
	}
	b, err := s.o.Store.CreateBase(ctx, user, strings.TrimSpace(req.GetName()), req.GetDescription())
	if err != nil {
		return nil, err
	}
	return &knowledgev1.CreateBaseResponse{Base: baseView(b)}, nil
}

// GetBase implements KnowledgeService.
func (s *Server) GetBase(ctx context.Context, req *knowledgev1.GetBaseRequest) (*knowledgev1.GetBaseResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	b, err := s.o.Store.Base(ctx, user, req.GetId())
	if err != nil {
		return nil, err
	}
	return &knowledgev1.GetBaseResponse{Base: baseView(b)}, nil
}

// ListBases implements KnowledgeService.
func (s *Server) ListBases(ctx context.Context, req *knowledgev1.ListBasesRequest) (*knowledgev1.ListBasesResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err := first(err, checkIDs("ids", req.GetIds())); err != nil {
		return nil, err
	}
	limit, from, err := page(req.GetLimit(), req.GetCursor())
	if err != nil {
		return nil, err
	}
	list, total, after, err := s.o.Store.Bases(ctx, user, req.GetIds(), limit, from)
	if err != nil {
		return nil, err
	}
	resp := &knowledgev1.ListBasesResponse{Total: int32(total), NextCursor: next(after)}
	for _, b := range list {
		resp.Bases = append(resp.Bases, baseView(b))
	}
	return resp, nil
}

// UpdateBase implements KnowledgeService.
func (s *Server) UpdateBase(ctx context.Context, req *knowledgev1.UpdateBaseRequest) (*knowledgev1.UpdateBaseResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	if req.Name != nil {
		if err := text("name", req.GetName(), 1, maxName); err != nil {
			return nil, err
		}
	}
	if err := text("description", req.GetDescription(), 0, maxDescription); err != nil {
		return nil, err
	}
	b, err := s.o.Store.UpdateBase(ctx, user, req.GetId(), req.Name, req.Description)
	if err != nil {
		return nil, err
	}
	return &knowledgev1.UpdateBaseResponse{Base: baseView(b)}, nil
}

// DeleteBase implements KnowledgeService.
func (s *Server) DeleteBase(ctx context.Context, req *knowledgev1.DeleteBaseRequest) (*knowledgev1.DeleteBaseResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.o.Store.DeleteBase(ctx, user, req.GetId()); err != nil {
		return nil, err
	}
	return &knowledgev1.DeleteBaseResponse{}, nil
}

// CheckBases implements KnowledgeService.
func (s *Server) CheckBases(ctx context.Context, req *knowledgev1.CheckBasesRequest) (*knowledgev1.CheckBasesResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err := first(err, checkIDs("knowledge_base_ids", req.GetIds())); err != nil {
		return nil, err
	}
	if len(req.GetIds()) > 0 {
		if err := s.o.Store.CheckBases(ctx, user, req.GetIds()); err != nil {
			return nil, err
		}
	}
	return &knowledgev1.CheckBasesResponse{}, nil
}
