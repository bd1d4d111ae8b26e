package auth_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

// What a token allows is what its scopes say, however its issuer writes them; without any claim of scopes it is everything.
func TestScopesOfTokens(t *testing.T) {
	t.Parallel()
	a := authenticator(t, auth.Config{Secret: secret, FullScopes: []string{"openid"}})
	all := []auth.Need{auth.ReadTools, auth.CallTools, auth.UseTools, auth.RunAgents, auth.Everything}
	for name, tt := range map[string]struct {
		claims jwt.MapClaims
		allows []auth.Need
	}{
		"no claim":               {nil, all},
		"one":                    {jwt.MapClaims{"scope": "tools:read"}, []auth.Need{auth.ReadTools}},
		"two":                    {jwt.MapClaims{"scope": "tools:read tools:call"}, []auth.Need{auth.ReadTools, auth.CallTools, auth.UseTools}},
		"a list":                 {jwt.MapClaims{"scope": []any{"tools:call"}}, []auth.Need{auth.CallTools}},
		"another name":           {jwt.MapClaims{"scp": "tools:call"}, []auth.Need{auth.CallTools}},
		"both names":             {jwt.MapClaims{"scp": []any{"tools:call"}, "scope": "agent:run"}, []auth.Need{auth.CallTools, auth.RunAgents}},
		"unknown ones":           {jwt.MapClaims{"scope": "profile email"}, nil},
		"an empty claim":         {jwt.MapClaims{"scope": ""}, nil},
		"everything":             {jwt.MapClaims{"scope": "full"}, all},
		"what the issuer calls":  {jwt.MapClaims{"scope": "openid profile"}, all},
		"not letter by letter":   {jwt.MapClaims{"scope": "Tools:Read FULL"}, nil},
		"limited to a node":      {jwt.MapClaims{"scope": "full node:desk"}, []auth.Need{auth.ReadTools, auth.CallTools}},
		"limited, but malformed": {jwt.MapClaims{"scope": "full node:%zz"}, []auth.Need{auth.ReadTools, auth.CallTools}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			claims := goodMap()
			for k, v := range tt.claims {
				claims[k] = v
			}
			id, err := a.Verify(t.Context(), raw(t, jwt.SigningMethodHS256, []byte(secret.Reveal()), nil, claims))
			if err != nil {
				t.Fatal(err)
			}
			for i, need := range all {
				err := id.Grant.Allow(need)
				allowed := slices.ContainsFunc(tt.allows, func(n auth.Need) bool { return n.AllNodes == need.AllNodes && slices.Equal(n.Scopes, need.Scopes) })
				if (err == nil) != allowed || err != nil && !errors.Is(err, errs.InsufficientScope) {
					t.Errorf("need %d: %v", i, err)
				}
			}
		})
	}
	for _, wrong := range []any{7, true, map[string]any{}, []any{"tools:read", 7}, nil} {
		claims := goodMap()
		claims["scope"] = wrong
		token := raw(t, jwt.SigningMethodHS256, []byte(secret.Reveal()), nil, claims)
		_, err := a.Verify(t.Context(), token)
		wantRefusal(t, err, auth.Unauthenticated, token)
	}
}

// A token for another resource is not one for the MCP endpoint, though it is good elsewhere where no audience is configured.
func TestAudienceOfTheResource(t *testing.T) {
	t.Parallel()
	const here = "https://hecaton.example.org"
	rsaPEM := pemOf(t, &rsaKey().PublicKey)
	for name, tt := range map[string]struct {
		cfg      auth.Config
		audience string
		verified bool
		resource bool
	}{
		"no audience at all":          {auth.Config{Secret: secret}, "", true, true},
		"any, but not configured":     {auth.Config{Secret: secret}, "other", true, false},
		"this one":                    {auth.Config{Secret: secret, PublicURL: here + "/"}, here + "/mcp", true, true},
		"another":                     {auth.Config{Secret: secret, PublicURL: here}, "https://other.example.org/mcp", true, false},
		"the configured one":          {auth.Config{Secret: secret, PublicURL: here, Audience: audience}, audience, true, true},
		"this one beside":             {auth.Config{Secret: secret, PublicURL: here, Audience: audience}, here + "/mcp", true, true},
		"another beside":              {auth.Config{Secret: secret, PublicURL: here, Audience: audience}, "other", false, false},
		"none beside":                 {auth.Config{Secret: secret, PublicURL: here, Audience: audience}, "", false, false},
		"a public key, by the URL":    {auth.Config{PublicKey: rsaPEM, Issuer: issuer, PublicURL: here}, here + "/mcp", true, true},
		"a public key, another's":     {auth.Config{PublicKey: rsaPEM, Issuer: issuer, PublicURL: here}, "other", false, false},
		"a public key, none":          {auth.Config{PublicKey: rsaPEM, Issuer: issuer, PublicURL: here}, "", false, false},
		"the host alone is not it":    {auth.Config{Secret: secret, PublicURL: here}, here, true, false},
		"nor is what begins the same": {auth.Config{Secret: secret, PublicURL: here}, here + "/mcp/more", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var key any = secret
			if tt.cfg.PublicKey != "" {
				key = rsaKey()
			}
			a := authenticator(t, tt.cfg)
			id, err := a.Verify(t.Context(), mint(t, key, auth.Claims{User: "alice", Issuer: issuer, Audience: tt.audience, Expires: time.Now().Add(time.Minute)}))
			if (err == nil) != tt.verified {
				t.Fatal(err)
			}
			if err == nil {
				if err := a.ForResource(id); (err == nil) != tt.resource {
					t.Error(err)
				}
			}
		})
	}
}

func FuzzNodeScope(f *testing.F) {
	f.Add("desk")
	f.Add(`a b"c\d%e é`)
	f.Fuzz(func(t *testing.T, text string) {
		id := ids.NodeID(text)
		scope := auth.NodeScope(id)
		for _, c := range scope { // RFC 6749, section 3.3
			if c <= 0x20 || c >= 0x7f || c == '"' || c == '\\' {
				t.Errorf("%q has %q", scope, c)
			}
		}
		nodes := auth.NewGrant(strings.Fields(scope)).Nodes
		if nodes.All() || nodes.Has(id) != (ids.Check("node", text) == nil) {
			t.Errorf("%q: %v", scope, nodes.IDs())
		}
	})
}
