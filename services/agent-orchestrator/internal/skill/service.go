package skill

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// Service is SkillService: the skills of the user on whose behalf a request is made.
type Service struct {
	agentv1.UnimplementedSkillServiceServer
	library *Library
}

// NewService returns a Service.
func NewService(l *Library) *Service { return &Service{library: l} }

// Of a list that says nothing, and at most.
const (
	usualList = 50
	maxList   = 200
)

func behalf(ctx context.Context) (ids.UserID, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return "", errs.New(errs.InvalidArgument, "%v", err)
	}
	return user, nil
}

// ListSkills implements SkillService.
func (s *Service) ListSkills(ctx context.Context, req *agentv1.ListSkillsRequest) (*agentv1.ListSkillsResponse, error) {
	user, err := behalf(ctx)
	if err != nil {
		return nil, err
	}
	limit := int(req.GetLimit())
	switch {
	case limit < 0 || limit > maxList:
		return nil, errs.New(errs.InvalidArgument, "limit must be from 1 to %d", maxList)
	case limit == 0:
		limit = usualList
	}
	if req.GetSource() != "" && !slices.Contains(Sources, req.GetSource()) {
		return nil, errs.New(errs.InvalidArgument, "source must be one of %s", strings.Join(Sources, ", "))
	}
	all, err := s.library.List(ctx, user)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(k Skill) bool {
		return req.Enabled != nil && k.Enabled != req.GetEnabled() || req.GetSource() != "" && k.Source != req.GetSource()
	})
	resp := &agentv1.ListSkillsResponse{Total: int32(len(all))}
	for i := range all {
		if all[i].Name <= req.GetCursor() {
			continue
		}
		if len(resp.GetSkills()) == limit {
			resp.NextCursor = resp.GetSkills()[limit-1].GetName()
			break
		}
		view, err := all[i].proto()
		if err != nil {
			return nil, err
		}
		resp.Skills = append(resp.Skills, view)
	}
	return resp, nil
}

// GetSkill implements SkillService.
func (s *Service) GetSkill(ctx context.Context, req *agentv1.GetSkillRequest) (*agentv1.GetSkillResponse, error) {
	user, err := behalf(ctx)
	if err != nil {
		return nil, err
	}
	k, body, err := s.library.Get(ctx, user, req.GetName())
	if err != nil {
		return nil, err
	}
	view, err := k.withText(body)
	return &agentv1.GetSkillResponse{Skill: view}, err
}

// GetSkillFile implements SkillService.
func (s *Service) GetSkillFile(ctx context.Context, req *agentv1.GetSkillFileRequest) (*agentv1.GetSkillFileResponse, error) {
	user, err := behalf(ctx)
	if err != nil {
		return nil, err
	}
	data, err := s.library.ReadFile(ctx, user, req.GetName(), req.GetPath())
	return &agentv1.GetSkillFileResponse{Data: data}, err
}

// SaveSkill implements SkillService.
func (s *Service) SaveSkill(ctx context.Context, req *agentv1.SaveSkillRequest) (*agentv1.SaveSkillResponse, error) {
	user, err := behalf(ctx)
	if err != nil {
		return nil, err
	}
	var saved Skill
	var body string
	switch {
	case req.GetName() != "" && req.GetZip() != nil:
		return nil, errs.New(errs.InvalidArgument, "a SKILL.md is replaced by a SKILL.md")
	case req.GetName() != "":
		saved, body, err = s.library.ReplaceMain(ctx, user, req.GetName(), req.GetSkillMd())
	default:
		folder := Folder{Main: req.GetSkillMd()}
		if req.GetZip() != nil {
			if folder, err = Unzip(req.GetZip()); err != nil {
				return nil, err
			}
		}
		saved, body, err = s.library.Create(ctx, user, folder, req.GetReplace())
	}
	if err != nil {
		return nil, err
	}
	view, err := saved.withText(body)
	return &agentv1.SaveSkillResponse{Skill: view}, err
}

// UpdateSkill implements SkillService.
func (s *Service) UpdateSkill(ctx context.Context, req *agentv1.UpdateSkillRequest) (*agentv1.UpdateSkillResponse, error) {
	user, err := behalf(ctx)
	if err != nil {
		return nil, err
	}
	var priority *int
	if req.Priority != nil {
		n := int(req.GetPriority())
		priority = &n
	}
	k, err := s.library.Set(ctx, user, req.GetName(), req.Enabled, priority)
	if err != nil {
		return nil, err
	}
	view, err := k.proto()
	return &agentv1.UpdateSkillResponse{Skill: view}, err
}

// DeleteSkill implements SkillService.
func (s *Service) DeleteSkill(ctx context.Context, req *agentv1.DeleteSkillRequest) (*agentv1.DeleteSkillResponse, error) {
	user, err := behalf(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.library.Delete(ctx, user, req.GetName()); err != nil {
		return nil, err
	}
	return &agentv1.DeleteSkillResponse{Message: "Skill deleted"}, nil
}

// SyncSkills implements SkillService.
func (s *Service) SyncSkills(ctx context.Context, _ *agentv1.SyncSkillsRequest) (*agentv1.SyncSkillsResponse, error) {
	user, err := behalf(ctx)
	if err != nil {
		return nil, err
	}
	loaded, problems, err := s.library.Sync(ctx, user)
	if err != nil {
		return nil, err
	}
	resp := &agentv1.SyncSkillsResponse{Success: len(problems) == 0, Loaded: int32(loaded)}
	for _, p := range problems {
		resp.Errors = append(resp.Errors, &agentv1.SyncError{Path: p.Path, Error: p.Message})
	}
	return resp, nil
}

// proto is the skill as the API shows it.
func (s *Skill) proto() (*agentv1.Skill, error) {
	metadata, err := structpb.NewStruct(s.Metadata)
	if err != nil {
		return nil, fmt.Errorf("skill: metadata: %w", err)
	}
	return &agentv1.Skill{
		Name: s.Name, Description: s.Description, Version: s.Version, Author: s.Author, Tags: s.Tags, Triggers: s.Triggers,
		Priority: int32(s.Priority), Enabled: s.Enabled, Source: s.Source, UpdatedAt: timestamppb.New(s.Updated), Metadata: metadata,
	}, nil
}

func (s *Skill) withText(body string) (*agentv1.SkillWithText, error) {
	p, err := s.proto()
	if err != nil {
		return nil, err
	}
	out := &agentv1.SkillWithText{
		Name: p.GetName(), Description: p.GetDescription(), Version: p.GetVersion(), Author: p.GetAuthor(), Tags: p.GetTags(),
		Triggers: p.GetTriggers(), Priority: p.GetPriority(), Enabled: p.GetEnabled(), Source: p.GetSource(), UpdatedAt: p.GetUpdatedAt(),
		Metadata: p.GetMetadata(), Content: body,
	}
	for _, f := range s.Files {
		out.Files = append(out.Files, &agentv1.SkillFile{Path: f.Path, Size: int32(f.Size)})
	}
	return out, nil
}
