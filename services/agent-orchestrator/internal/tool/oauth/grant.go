package oauth

import (
	"context"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// early is how long before its expiry a token is refreshed.
const early = time.Minute

// grant is a user's token at one provider, kept fresh.
type grant struct {
	// static after construction
	source   *Source
	provider *provider
	user     ids.UserID
	saved    Saved // nil where the request brought the token

	mu    sync.Mutex // held while refreshing, so that one call does it for all
	token Token
}

func newGrant(s *Source, p *provider, user ids.UserID, g *agentv1.OAuthGrant, saved Saved) *grant {
	return &grant{source: s, provider: p, user: user, saved: saved, token: tokenOf(g)}
}

func tokenOf(g *agentv1.OAuthGrant) Token {
	t := Token{Access: g.GetAccessToken(), Refresh: g.GetRefreshToken()}
	if g.GetExpiresAt() > 0 {
		t.Expires = time.Unix(g.GetExpiresAt(), 0)
	}
	return t
}

// access returns a token to use, refreshed if it has expired and can be refreshed. A token that could not be refreshed is
// used as it is: the provider answers 401 if it does not accept it.
func (g *grant) access(ctx context.Context) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.token.Expires.IsZero() && time.Until(g.token.Expires) < early {
		g.renew(ctx)
	}
	return g.token.Access
}

// after401 returns another token than the one that was refused, or false if there is none.
func (g *grant) after401(ctx context.Context, refused string) (string, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.token.Access == refused {
		g.renew(ctx)
	}
	return g.token.Access, g.token.Access != refused
}

// renew is called with mu held.
func (g *grant) renew(ctx context.Context) {
	old := g.token
	if old.Refresh == "" {
		return
	}
	fresh, err := g.source.refresh(ctx, g.provider, old.Refresh)
	if err != nil {
		g.reread(ctx)
		return
	}
	g.token = fresh
	if g.saved != nil {
		// A cancelled call must not lose a refresh token that works only once.
		if err := g.saved.Rotate(context.WithoutCancel(ctx), g.user, g.provider.name, old.Refresh, fresh); err != nil {
			g.source.log.WarnContext(ctx, "a refreshed token could not be stored", "provider", g.provider.name, "error", err)
		}
	}
}

// reread loads the saved token, which another pod may have refreshed at the same time.
func (g *grant) reread(ctx context.Context) {
	if g.saved == nil {
		return
	}
	grants, err := g.saved.Grants(ctx, g.user)
	if err != nil {
		return
	}
	for _, saved := range grants {
		if saved.GetProvider() == g.provider.name {
			g.token = tokenOf(saved)
		}
	}
}
