package toolbox

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/oauth"
)

const (
	// stateTTL is how long a user may take at the provider.
	stateTTL = 10 * time.Minute
	// maxState is the length of the longest state that is opened, in bytes.
	maxState = 4 << 10
)

// authorization is the content of a state. It is sealed: any pod can read it, nobody else can, and it opens only for its
// user.
type authorization struct {
	Provider    string `json:"provider"`
	RedirectURI string `json:"redirect_uri"`
	Verifier    string `json:"verifier,omitempty"`
	Expires     int64  `json:"expires"` // Unix seconds
}

// AuthorizeOAuth implements ToolboxService.
func (s *Server) AuthorizeOAuth(ctx context.Context, req *agentv1.AuthorizeOAuthRequest) (*agentv1.AuthorizeOAuthResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := oauth.CheckProvider(req.GetProvider()); err != nil {
		return nil, err
	}
	if err := s.OAuth.CheckRedirect(req.GetRedirectUri()); err != nil {
		return nil, err
	}
	a := authorization{
		Provider: req.GetProvider(), RedirectURI: req.GetRedirectUri(), Verifier: s.OAuth.NewVerifier(req.GetProvider()),
		Expires: time.Now().Add(stateTTL).Unix(),
	}
	state, err := s.sealState(user, a)
	if err != nil {
		return nil, err
	}
	where, err := s.OAuth.AuthorizationURL(a.Provider, a.RedirectURI, state, a.Verifier, req.GetScopes())
	if err != nil {
		return nil, err
	}
	return &agentv1.AuthorizeOAuthResponse{AuthorizationUrl: where, State: state, ExpiresAt: float64(a.Expires)}, nil
}

// ExchangeOAuth implements ToolboxService. It checks everything that it can before it asks the provider. From then on the state
// is used up, whatever the provider answers.
func (s *Server) ExchangeOAuth(ctx context.Context, req *agentv1.ExchangeOAuthRequest) (*agentv1.ExchangeOAuthResponse, error) {
	user, err := auth.BehalfOf(ctx)
	if err != nil {
		return nil, err
	}
	if err := oauth.CheckProvider(req.GetProvider()); err != nil {
		return nil, err
	}
	if req.GetCode() == "" {
		return nil, invalid("code is required")
	}
	a, err := s.openState(user, req.GetState())
	switch {
	case err != nil:
		return nil, err
	case a.Provider != req.GetProvider():
		return nil, invalid("state is that of an authorization at another provider")
	case req.GetRedirectUri() != "" && req.GetRedirectUri() != a.RedirectURI:
		return nil, invalid("redirect_uri is not that of the authorization")
	}
	if err := s.OAuth.CheckRedirect(a.RedirectURI); err != nil { // it may have been taken off the list
		return nil, err
	}
	if err := s.useUp(ctx, req.GetState(), a); err != nil {
		return nil, err
	}
	token, err := s.OAuth.Exchange(ctx, a.Provider, req.GetCode(), a.RedirectURI, a.Verifier)
	if err != nil {
		return nil, err
	}
	out := &agentv1.ExchangeOAuthResponse{AccessToken: token.Access, TokenType: "Bearer"}
	if token.Refresh != "" {
		out.RefreshToken = proto.String(token.Refresh)
	}
	if !token.Expires.IsZero() {
		out.ExpiresAt = proto.Float64(float64(token.Expires.Unix()))
	}
	return out, nil
}

func (s *Server) sealState(user ids.UserID, a authorization) (string, error) {
	plain, err := json.Marshal(a)
	if err != nil {
		return "", fmt.Errorf("toolbox: encode an authorization: %w", err)
	}
	sealed, err := s.Box.Seal(seal.OAuthState, user, plain)
	return base64.RawURLEncoding.EncodeToString(sealed), err
}

// openState opens a state. The error is the same for another user's state and for an invented one.
func (s *Server) openState(user ids.UserID, state string) (a authorization, err error) {
	const begin = "; begin with POST /api/tools/oauth/authorize"
	if state == "" {
		return a, invalid("state is required" + begin)
	}
	var plain []byte
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(state)
	if err == nil && len(state) <= maxState {
		plain, err = s.Box.Open(seal.OAuthState, user, sealed)
	}
	if err != nil || json.Unmarshal(plain, &a) != nil {
		return a, invalid("state is not that of an authorization that this user has begun" + begin)
	}
	if time.Now().Unix() >= a.Expires {
		return a, invalid("the authorization was begun more than %d minutes ago"+begin, int(stateTTL.Minutes()))
	}
	return a, nil
}

// useUp marks a state as used, for all pods; a second use is refused.
func (s *Server) useUp(ctx context.Context, state string, a authorization) error {
	sum := sha256.Sum256([]byte(state))
	first, err := s.Store.UseOnce(ctx, hex.EncodeToString(sum[:]), time.Unix(a.Expires, 0))
	if err == nil && !first {
		return invalid("the state was used before; begin with POST /api/tools/oauth/authorize")
	}
	return err
}
