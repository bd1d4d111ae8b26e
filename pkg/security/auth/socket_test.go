package auth_test

import (
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

func TestAuthenticateSocket(t *testing.T) {
	t.Parallel()
	token, bobs := mint(t, secret, good()), ""
	{
		claims := good()
		claims.User = "bob"
		bobs = mint(t, secret, claims)
	}
	jwtMode := authenticator(t, auth.Config{Secret: secret})
	trusted := authenticator(t, auth.Config{Mode: auth.Trusted})
	const protocols = "Sec-WebSocket-Protocol"
	for name, tt := range map[string]struct {
		a       *auth.Authenticator
		target  string
		headers []string
		user    ids.UserID // whom the URL names
		accept  string
		refusal auth.Kind
	}{
		"header":                       {a: jwtMode, headers: []string{"Authorization", "Bearer " + token}, user: "alice"},
		"query":                        {a: jwtMode, target: "/?token=" + token, user: "alice"},
		"subprotocol alone":            {a: jwtMode, headers: []string{protocols, "bearer." + token}, user: "alice", accept: "bearer." + token},
		"subprotocol beside another":   {a: jwtMode, headers: []string{protocols, "bearer." + token + ", hecaton.v1"}, user: "alice", accept: "hecaton.v1"},
		"subprotocols on two lines":    {a: jwtMode, headers: []string{protocols, "x,y", protocols, "bearer." + token}, user: "alice", accept: "x"},
		"header and other subprotocol": {a: jwtMode, headers: []string{"Authorization", "Bearer " + token, protocols, "x"}, user: "alice", accept: "x"},
		"one token in all places": {
			a: jwtMode, target: "/?token=" + token, user: "alice", accept: "bearer." + token,
			headers: []string{"Authorization", "Bearer " + token, protocols, "bearer." + token},
		},
		"two tokens":                  {a: jwtMode, target: "/?token=" + bobs, headers: []string{"Authorization", "Bearer " + token}, user: "alice", refusal: auth.BadRequest},
		"two tokens in one list":      {a: jwtMode, headers: []string{protocols, "bearer." + token + ",bearer." + bobs}, user: "alice", refusal: auth.BadRequest},
		"another user":                {a: jwtMode, target: "/?token=" + bobs, user: "alice", refusal: auth.Forbidden},
		"a user in another case":      {a: jwtMode, target: "/?token=" + token, user: "ALICE", refusal: auth.Forbidden},
		"no user":                     {a: jwtMode, target: "/?token=" + token, user: "", refusal: auth.Forbidden},
		"no token":                    {a: jwtMode, user: "alice", refusal: auth.Unauthenticated},
		"an empty token":              {a: jwtMode, target: "/?token=", headers: []string{protocols, "bearer."}, user: "alice", refusal: auth.Unauthenticated},
		"a broken token":              {a: jwtMode, target: "/?token=nonsense", user: "alice", refusal: auth.Unauthenticated},
		"another scheme":              {a: jwtMode, target: "/?token=" + token, headers: []string{"Authorization", "Basic eDp5"}, user: "alice", refusal: auth.Unauthenticated},
		"trusted":                     {a: trusted, user: "bob"},
		"trusted, offered protocols":  {a: trusted, headers: []string{protocols, "bearer." + token}, user: "bob", accept: "bearer." + token},
		"trusted, a hostile id":       {a: trusted, user: "a\x00", refusal: auth.BadRequest},
		"trusted, an empty id":        {a: trusted, user: "", refusal: auth.BadRequest},
		"trusted, a token of another": {a: trusted, target: "/?token=" + token, user: "bob"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.target == "" {
				tt.target = "/ws/web"
			}
			id, err := tt.a.AuthenticateSocket(request(t, tt.target, tt.headers...), tt.user)
			if tt.refusal != "" {
				wantRefusal(t, err, tt.refusal, token)
				if id.User != "" {
					t.Errorf("a refusal comes with the user %q", id.User)
				}
			} else if err != nil || id.User != tt.user || id.Subprotocol != tt.accept {
				t.Errorf("identity %+v, error %v", id, err)
			}
		})
	}
}

// Who accepts a socket only to close it with a code must accept a subprotocol too, or a browser never sees the code.
func TestRefusedSocketsKnowTheirSubprotocol(t *testing.T) {
	t.Parallel()
	a := authenticator(t, auth.Config{Secret: secret})
	r := request(t, "/ws/web", "Sec-WebSocket-Protocol", "bearer.nonsense, hecaton.v1")
	id, err := a.AuthenticateSocket(r, "alice")
	if wantRefusal(t, err, auth.Unauthenticated, ""); id.Subprotocol != "hecaton.v1" {
		t.Errorf("got %q", id.Subprotocol)
	}
}
