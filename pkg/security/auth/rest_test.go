package auth_test

import (
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

func TestAuthenticateREST(t *testing.T) {
	t.Parallel()
	token := mint(t, secret, good())
	jwtMode := authenticator(t, auth.Config{Secret: secret})
	trusted := authenticator(t, auth.Config{Mode: auth.Trusted})
	bearer := "Bearer " + token
	for name, tt := range map[string]struct {
		a       *auth.Authenticator
		target  string
		headers []string
		user    ids.UserID
		refusal auth.Kind
	}{
		"jwt":                               {a: jwtMode, target: "/", headers: []string{"Authorization", bearer}, user: "alice"},
		"jwt, scheme in another case":       {a: jwtMode, target: "/", headers: []string{"Authorization", "bearer  " + token}, user: "alice"},
		"jwt, own name in the query":        {a: jwtMode, target: "/?user_id=alice", headers: []string{"Authorization", bearer}, user: "alice"},
		"jwt, own name in the header":       {a: jwtMode, target: "/", headers: []string{"Authorization", bearer, "X-User-Id", "alice"}, user: "alice"},
		"jwt, another name in the query":    {a: jwtMode, target: "/?user_id=bob", headers: []string{"Authorization", bearer}, refusal: auth.Forbidden},
		"jwt, another name in the header":   {a: jwtMode, target: "/", headers: []string{"Authorization", bearer, "X-User-Id", "bob"}, refusal: auth.Forbidden},
		"jwt, an empty name":                {a: jwtMode, target: "/?user_id=", headers: []string{"Authorization", bearer}, refusal: auth.Forbidden},
		"jwt, a name in another case":       {a: jwtMode, target: "/?user_id=Alice", headers: []string{"Authorization", bearer}, refusal: auth.Forbidden},
		"jwt, two names":                    {a: jwtMode, target: "/?user_id=alice", headers: []string{"Authorization", bearer, "X-User-Id", "bob"}, refusal: auth.BadRequest},
		"jwt, only a name":                  {a: jwtMode, target: "/?user_id=alice", refusal: auth.Unauthenticated},
		"jwt, token in the query":           {a: jwtMode, target: "/?token=" + token, refusal: auth.Unauthenticated},
		"jwt, another scheme":               {a: jwtMode, target: "/", headers: []string{"Authorization", "Basic " + token}, refusal: auth.Unauthenticated},
		"jwt, no token":                     {a: jwtMode, target: "/", headers: []string{"Authorization", "Bearer"}, refusal: auth.Unauthenticated},
		"jwt, two headers":                  {a: jwtMode, target: "/", headers: []string{"Authorization", bearer, "Authorization", bearer}, refusal: auth.BadRequest},
		"trusted, query":                    {a: trusted, target: "/?user_id=bob", user: "bob"},
		"trusted, header":                   {a: trusted, target: "/", headers: []string{"X-User-Id", "bob"}, user: "bob"},
		"trusted, both alike":               {a: trusted, target: "/?user_id=bob", headers: []string{"X-User-Id", "bob"}, user: "bob"},
		"trusted, both and different":       {a: trusted, target: "/?user_id=bob", headers: []string{"X-User-Id", "alice"}, refusal: auth.BadRequest},
		"trusted, twice and different":      {a: trusted, target: "/?user_id=bob&user_id=alice", refusal: auth.BadRequest},
		"trusted, neither":                  {a: trusted, target: "/", refusal: auth.BadRequest},
		"trusted, empty":                    {a: trusted, target: "/?user_id=", refusal: auth.BadRequest},
		"trusted, a control character":      {a: trusted, target: "/?user_id=a%0ab", refusal: auth.BadRequest},
		"trusted, not UTF-8":                {a: trusted, target: "/?user_id=%ff", refusal: auth.BadRequest},
		"trusted, 256 bytes":                {a: trusted, target: "/?user_id=" + strings.Repeat("u", 256), user: ids.UserID(strings.Repeat("u", 256))},
		"trusted, 257 bytes":                {a: trusted, target: "/?user_id=" + strings.Repeat("u", 257), refusal: auth.BadRequest},
		"trusted, ids are opaque":           {a: trusted, target: "/?user_id=+A.*%3E+", user: " A.*> "},
		"trusted, a token is not looked at": {a: trusted, target: "/?user_id=bob", headers: []string{"Authorization", bearer}, user: "bob"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id, err := tt.a.Authenticate(request(t, tt.target, tt.headers...))
			if tt.refusal != "" {
				wantRefusal(t, err, tt.refusal, token)
			} else if err != nil || id.User != tt.user {
				t.Errorf("user %q, error %v", id.User, err)
			}
		})
	}
	if jwtMode.Mode() != auth.JWT || trusted.Mode() != auth.Trusted {
		t.Error("Mode does not tell the mode")
	}
	_, err := trusted.Verify(t.Context(), token)
	wantRefusal(t, err, auth.Unauthenticated, token)
}
