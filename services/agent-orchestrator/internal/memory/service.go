package memory

import (
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// Service is MemoryService: the memories of the user on whose behalf a request is made.
type Service struct {
	agentv1.UnimplementedMemoryServiceServer
	keeper *Keeper
}

// NewService returns a Service.
func NewService(k *Keeper) *Service { return &Service{keeper: k} }

// Of a list and a search that say nothing, and at most.
const (
	usualList, maxList = 50, 200
	usualTop, maxTop   = 5, 50
)

func notFound(id string) error { return errs.New(errs.MemoryNotFound, "there is no memory %.100q", id) }

func behalf(ctx context.Context) (ids.UserID, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return "", errs.New(errs.InvalidArgument, "%v", err)
	}
	return user, nil
}

// oneOf refuses a filter that nothing passes.
func oneOf(field, value string, allowed []string) error {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	return invalid("%s must be one of %s", field, strings.Join(allowed, ", "))
}

// ListMemories implements MemoryService.
func (s *Service) ListMemories(ctx context.Context, req *agentv1.ListMemoriesRequest) (*agentv1.ListMemoriesResponse, error) {
	user, err := behalf(ctx)
	if err != nil {
		return nil, err
	}
	limit := int(req.GetLimit())
	if limit < 0 || limit > maxList {
		return nil, errs.New(errs.InvalidArgument, "limit must be from 1 to %d", maxList)
	}
	if limit == 0 {
		limit = usualList
	}
	if err := oneOf("scope", req.GetScope(), scopes); err != nil {
		return nil, err
	}
	if err := oneOf("type", req.GetType(), types); err != nil {
		return nil, err
	}
	items, err := s.keeper.List(ctx, user)
	if err != nil {
		return nil, err
	}
	differs := func(want, is string) bool { return want != "" && want != is }
	items = slices.DeleteFunc(items, func(m Item) bool {
		return differs(req.GetScope(), m.Scope) || differs(req.GetType(), m.Type) || differs(req.GetProjectId(), m.Project) ||
			differs(req.GetSessionId(), m.Session)
	})
	resp := &agentv1.ListMemoriesResponse{Total: int32(len(items))}
	if req.GetCursor() != "" {
		at := slices.IndexFunc(items, func(m Item) bool { return m.ID == req.GetCursor() })
		if at < 0 {
			return nil, errs.New(errs.InvalidArgument, "cursor must be that of a page before, and what it names is forgotten, or is none")
		}
		items = items[at+1:]
	}
	if len(items) > limit {
		items = items[:limit]
		resp.NextCursor = items[limit-1].ID
	}
	for i := range items {
		resp.Items = append(resp.Items, view(&items[i]))
	}
	return resp, nil
}

// SaveMemory implements MemoryService.
func (s *Service) SaveMemory(ctx context.Context, req *agentv1.SaveMemoryRequest) (*agentv1.SaveMemoryResponse, error) {
	user, err := behalf(ctx)
	if err != nil {
		return nil, err
	}
	m, err := s.keeper.Save(ctx, user, Item{
		Content: req.GetContent(), Type: req.GetType(), Scope: req.GetScope(), Project: req.GetProjectId(), Session: req.GetSessionId(),
		Source: ByUser,
	})
	if err != nil {
		return nil, err
	}
	return &agentv1.SaveMemoryResponse{Memory: view(&m)}, nil
}

// GetMemory implements MemoryService.
func (s *Service) GetMemory(ctx context.Context, req *agentv1.GetMemoryRequest) (*agentv1.GetMemoryResponse, error) {
	user, err := behalf(ctx)
	if err != nil {
		return nil, err
	}
	m, err := s.keeper.Get(ctx, user, req.GetId())
	return &agentv1.GetMemoryResponse{Memory: view(&m)}, err
}

// UpdateMemory implements MemoryService.
func (s *Service) UpdateMemory(ctx context.Context, req *agentv1.UpdateMemoryRequest) (*agentv1.UpdateMemoryResponse, error) {
	user, err := behalf(ctx)
	if err != nil {
		return nil, err
	}
	m, err := s.keeper.Change(ctx, user, req.GetId(), req.Content, req.Type)
	return &agentv1.UpdateMemoryResponse{Memory: view(&m)}, err
}

// DeleteMemory implements MemoryService.
func (s *Service) DeleteMemory(ctx context.Context, req *agentv1.DeleteMemoryRequest) (*agentv1.DeleteMemoryResponse, error) {
	user, err := behalf(ctx)
	if err == nil {
		err = s.keeper.Delete(ctx, user, req.GetId())
	}
	return &agentv1.DeleteMemoryResponse{Message: "Memory deleted"}, err
}

// ForgetScope implements MemoryService.
func (s *Service) ForgetScope(ctx context.Context, req *agentv1.ForgetScopeRequest) (*agentv1.ForgetScopeResponse, error) {
	user, err := behalf(ctx)
	switch {
	case err != nil:
		return nil, err
	case !slices.Contains(scopes, req.GetScope()):
		return nil, invalid("scope is required, one of %s", strings.Join(scopes, ", "))
	case !req.GetConfirm():
		return nil, errs.New(errs.MemoryUnconfirmed, "this forgets all of the scope %s for good: add confirm=true", req.GetScope())
	}
	n, err := s.keeper.Forget(ctx, user, req.GetScope(), req.GetProjectId(), req.GetSessionId())
	return &agentv1.ForgetScopeResponse{Deleted: int32(n)}, err
}

// SearchMemories implements MemoryService.
func (s *Service) SearchMemories(ctx context.Context, req *agentv1.SearchMemoriesRequest) (*agentv1.SearchMemoriesResponse, error) {
	user, err := behalf(ctx)
	if err != nil {
		return nil, err
	}
	most := int(req.GetTopK())
	switch {
	case strings.TrimSpace(req.GetQuery()) == "":
		return nil, invalid("query is required, a text that is not empty")
	case most < 0 || most > maxTop:
		return nil, invalid("top_k must be from 1 to %d", maxTop)
	case most == 0:
		most = usualTop
	}
	if err := oneOf("scope", req.GetScope(), scopes); err != nil {
		return nil, err
	}
	items, err := s.keeper.List(ctx, user)
	if err != nil {
		return nil, err
	}
	items = slices.DeleteFunc(items, func(m Item) bool {
		return req.GetScope() != "" && m.Scope != req.GetScope() ||
			m.Scope == Project && req.GetProjectId() != "" && m.Project != req.GetProjectId() ||
			m.Scope == Session && req.GetSessionId() != "" && m.Session != req.GetSessionId()
	})
	resp := &agentv1.SearchMemoriesResponse{}
	for _, hit := range Search(items, req.GetQuery(), most) {
		v := view(&hit.Item)
		v.Score = &hit.Score
		resp.Items = append(resp.Items, v)
	}
	return resp, nil
}

// GetMemoryProfile implements MemoryService.
func (s *Service) GetMemoryProfile(ctx context.Context, req *agentv1.GetMemoryProfileRequest) (*agentv1.GetMemoryProfileResponse, error) {
	user, err := behalf(ctx)
	if err != nil {
		return nil, err
	}
	items, err := s.keeper.List(ctx, user)
	if err != nil {
		return nil, err
	}
	ofUser, userText := profile(items, User, "")
	var ofProject []Item
	projectText := ""
	if req.GetProjectId() != "" {
		ofProject, projectText = profile(items, Project, req.GetProjectId())
	}
	resp := &agentv1.GetMemoryProfileResponse{
		Profile: &agentv1.MemoryProfile{User: userText, Project: projectText}, Items: int32(len(ofUser) + len(ofProject)),
	}
	var last time.Time
	for _, m := range append(ofUser, ofProject...) {
		if m.Updated.After(last) {
			last = m.Updated
		}
	}
	if !last.IsZero() {
		resp.UpdatedAt = timestamppb.New(last)
	}
	return resp, nil
}

// view is an item as the API shows it.
func view(m *Item) *agentv1.Memory {
	return &agentv1.Memory{
		Id: m.ID, Scope: m.Scope, ProjectId: m.Project, SessionId: m.Session, Type: m.Type, Content: m.Content,
		Source: &agentv1.MemorySource{Kind: m.Source, SessionId: m.SaidIn}, CreatedAt: timestamppb.New(m.Created), UpdatedAt: timestamppb.New(m.Updated),
	}
}
