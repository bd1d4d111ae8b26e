package oauth

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/netguard"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

const userAgent = "hecaton"

// Saved are the users' saved grants.
type Saved interface {
	// Grants returns the grants that all runs of the user have.
	Grants(ctx context.Context, user ids.UserID) ([]*agentv1.OAuthGrant, error)
	// Rotate stores a token that replaces the one with this refresh token. It does nothing if the user's grant has another
	// token by now.
	Rotate(ctx context.Context, user ids.UserID, provider, oldRefresh string, token Token) error
}

// Source has the tools of OAuth providers. Close it.
type Source struct {
	// static after construction
	providers map[string]*provider
	redirects []string // pages to which users may be sent back
	saved     Saved    // may be nil
	guard     *netguard.Guard
	http      *http.Client
	log       *slog.Logger
}

// Options of a Source.
type Options struct {
	Config Config
	// Saved are the users' saved grants; may be nil.
	Saved Saved
	// Logger hears of providers that fail; nil discards.
	Logger *slog.Logger
}

// New checks the options and returns a Source.
func New(o Options) (*Source, error) {
	if err := o.Config.Validate(); err != nil {
		return nil, err
	}
	// The addresses are the operator's, so all are allowed; the guard keeps tokens from other origins.
	guard, err := netguard.New(netguard.Config{Private: true})
	if err != nil {
		return nil, err
	}
	s := &Source{
		providers: o.Config.providers(), redirects: o.Config.RedirectURIs, saved: o.Saved, guard: guard, http: guard.Client(), log: obs.OrDiscard(o.Logger),
	}
	for _, p := range s.providers {
		for _, address := range []string{p.authURL, p.tokenURL, p.api} {
			if err := guard.Check(address); err != nil {
				return nil, fmt.Errorf("oauth: address of %s: %w", p.title, err)
			}
		}
	}
	return s, nil
}

// Close closes idle connections.
func (s *Source) Close() { s.guard.Close() }

// Tools returns the tools of the providers for which the request has a grant, or the user has saved one; the request's grant
// is used if there are both. No provider is asked before a tool is called.
func (s *Source) Tools(ctx context.Context, scope tool.Scope) (tool.Listing, error) {
	var listing tool.Listing
	seen := map[string]bool{}
	add := func(g *agentv1.OAuthGrant, saved Saved) {
		p := s.providers[g.GetProvider()]
		switch {
		case p == nil:
			listing.Problems = append(listing.Problems, fmt.Sprintf("There is no OAuth provider %q", g.GetProvider()))
			return
		case seen[p.name]:
			return
		}
		seen[p.name] = true
		c := &client{source: s, provider: p, grant: newGrant(s, p, scope.User, g, saved)}
		for _, a := range actions[p.name] {
			listing.Tools = append(listing.Tools, &bound{action: a, client: c})
		}
	}
	for _, source := range scope.Requested {
		if g := source.GetOauth(); g != nil {
			add(g, nil)
		}
	}
	if s.saved == nil {
		return listing, nil
	}
	grants, err := s.saved.Grants(ctx, scope.User)
	if err != nil {
		return tool.Listing{}, err
	}
	for _, g := range grants {
		add(g, s.saved)
	}
	return listing, nil
}
