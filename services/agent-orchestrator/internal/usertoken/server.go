package usertoken

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Store has the tokens (package store).
type Store interface {
	UserTokens(ctx context.Context, user ids.UserID) ([]store.UserToken, error)
	FindUserTokens(ctx context.Context, list []string) ([]store.UserToken, error)
	CreateUserToken(ctx context.Context, t store.UserToken) error
	DeleteUserToken(ctx context.Context, user ids.UserID, id string) error
}

// Options are what a Server works with.
type Options struct {
	// Store is required.
	Store Store
	// Bus carries revocations to the gateways; nil where there is none: they find out by asking again.
	Bus *bus.Conn
	// Logger hears of tokens that are made and revoked; nil discards.
	Logger *slog.Logger
}

// Server implements TokenService. Its errors are those of packages errs and ids.
type Server struct {
	agentv1.UnimplementedTokenServiceServer
	Options
}

// New checks the options and returns a Server.
func New(o Options) (*Server, error) {
	if err := options.Require("usertoken", map[string]bool{"Store": o.Store == nil}); err != nil {
		return nil, err
	}
	o.Logger = obs.OrDiscard(o.Logger)
	return &Server{Options: o}, nil
}

// ListTokens implements TokenService.
func (s *Server) ListTokens(ctx context.Context, _ *agentv1.ListTokensRequest) (*agentv1.ListTokensResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	list, err := s.Store.UserTokens(ctx, user)
	if err != nil {
		return nil, err
	}
	out := &agentv1.ListTokensResponse{}
	for _, t := range list {
		out.Tokens = append(out.Tokens, message(t))
	}
	return out, nil
}

// CreateToken implements TokenService.
func (s *Server) CreateToken(ctx context.Context, req *agentv1.CreateTokenRequest) (*agentv1.CreateTokenResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := check(req); err != nil {
		return nil, err
	}
	id, secret := auth.NewFixed()
	now := time.UnixMilli(time.Now().UnixMilli()) // milliseconds, as it is stored
	t := store.UserToken{
		ID: id, User: user, Name: orDefault(req.GetName(), "token"), Hash: auth.HashFixed(secret), Scopes: req.GetScopes(), Nodes: req.GetNodes(),
		Created: now, Expires: now.Add(lifetime(req)),
	}
	if err := s.Store.CreateUserToken(ctx, t); err != nil {
		return nil, err
	}
	s.Logger.InfoContext(ctx, "a user made a token", "token", id, "scopes", t.Scopes, "expires", t.Expires)
	return &agentv1.CreateTokenResponse{Token: message(t), Secret: secret}, nil
}

func orDefault(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// DeleteToken implements TokenService. Who hears of it late asks again within two seconds.
func (s *Server) DeleteToken(ctx context.Context, req *agentv1.DeleteTokenRequest) (*agentv1.DeleteTokenResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := ids.Check("id", req.GetId()); err != nil {
		return nil, err
	}
	if err := s.Store.DeleteUserToken(ctx, user, req.GetId()); err != nil {
		return nil, err
	}
	s.Logger.InfoContext(ctx, "a user revoked a token", "token", req.GetId())
	s.tell(ctx, req.GetId())
	return &agentv1.DeleteTokenResponse{Success: true}, nil
}

// told bounds the wait until the bus has a revocation.
const told = time.Second

// tell returns once the bus has the revocation, so that it is on its way to all gateways when the user hears of it.
func (s *Server) tell(ctx context.Context, id string) {
	if s.Bus == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), told)
	defer cancel()
	err := s.Bus.Publish(bus.RevokedSubject(id), nil)
	if err == nil {
		err = s.Bus.FlushWithContext(ctx)
	}
	if err != nil {
		s.Logger.WarnContext(ctx, "gateways were not told of a revoked token; they find out within seconds", "token", id, "error", err)
	}
}

// maxLookUp is how many tokens one question may name.
const maxLookUp = 500

// LookUpTokens implements TokenService.
func (s *Server) LookUpTokens(ctx context.Context, req *agentv1.LookUpTokensRequest) (*agentv1.LookUpTokensResponse, error) {
	if n := len(req.GetIds()); n > maxLookUp {
		return nil, errs.New(errs.InvalidArgument, "%d tokens are named; at most %d are looked up at a time", n, maxLookUp)
	}
	list, err := s.Store.FindUserTokens(ctx, req.GetIds())
	if err != nil {
		return nil, err
	}
	out := &agentv1.LookUpTokensResponse{}
	for _, t := range list {
		out.Tokens = append(out.Tokens, &agentv1.TokenRecord{Token: message(t), UserId: string(t.User), Hash: t.Hash})
	}
	return out, nil
}

func message(t store.UserToken) *agentv1.UserToken {
	return &agentv1.UserToken{
		Id: t.ID, Name: t.Name, Scopes: t.Scopes, Nodes: t.Nodes, CreatedAt: timestamppb.New(t.Created), ExpiresAt: timestamppb.New(t.Expires),
	}
}
