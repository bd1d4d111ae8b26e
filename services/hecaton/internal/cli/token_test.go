package cli_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

const hs256 = "a key of at least thirty-two bytes"

// gatewayAuth is how a gateway with that key knows its users.
func gatewayAuth(t *testing.T, issuer, audience string) *auth.Authenticator {
	t.Helper()
	a, err := auth.New(auth.Config{Mode: auth.JWT, Secret: config.Secret(hs256), Issuer: issuer, Audience: audience}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A gateway accepts the token as that of its user, whichever way the key was given.
func TestToken(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(hs256+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		environ, args    []string
		issuer, audience string
	}{
		"the gateway's variable": {environ: []string{"JWT_SECRET=" + hs256}},
		"its file":               {environ: []string{"JWT_SECRET_FILE=" + file}},
		"a flag for the file":    {args: []string{"--secret-file", file}},
		"issuer and audience": {
			environ: []string{"JWT_SECRET=" + hs256, "JWT_ISSUER=us", "JWT_AUDIENCE=hecaton"}, issuer: "us", audience: "hecaton",
		},
	} {
		p := start(t, tt.environ, append([]string{"token", "--user", "ana"}, tt.args...)...)
		if code := p.wait(); code != 0 || p.err.String() != "" {
			t.Errorf("%s: %d %s", name, code, &p.err)
			continue
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://gateway/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+strings.TrimSuffix(p.out.String(), "\n"))
		id, err := gatewayAuth(t, tt.issuer, tt.audience).Authenticate(r)
		if err != nil || id.User != "ana" {
			t.Errorf("%s: the gateway says %v, %v", name, id, err)
		}
		if left := time.Until(id.Expires); left < 59*time.Minute || left > time.Hour {
			t.Errorf("%s: the token is good for another %v", name, left)
		}
	}
}

// What no gateway would accept is not minted, and no message repeats the key.
func TestTokenRefusals(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		environ, args []string
		want          string
	}{
		"no key":        {args: []string{"--user", "ana"}, want: "--secret (JWT_SECRET) is required"},
		"a short key":   {environ: []string{"JWT_SECRET=too-short"}, args: []string{"--user", "ana"}, want: "has 9 bytes"},
		"no file":       {args: []string{"--user", "ana", "--secret-file", "/nowhere"}, want: "/nowhere"},
		"no user":       {environ: []string{"JWT_SECRET=" + hs256}, want: "--user (HECATON_USER) is required"},
		"no user's id":  {environ: []string{"JWT_SECRET=" + hs256}, args: []string{"--user", "a\nb"}, want: "control character"},
		"over at once":  {environ: []string{"JWT_SECRET=" + hs256}, args: []string{"--user", "ana", "--ttl", "0s"}, want: "--ttl must be"},
		"never good":    {environ: []string{"JWT_SECRET=" + hs256}, args: []string{"--user", "ana", "--ttl", "-1h"}, want: "--ttl must be"},
		"no time":       {environ: []string{"JWT_SECRET=" + hs256}, args: []string{"--user", "ana", "--ttl", "soon"}, want: "--ttl"},
		"a second user": {environ: []string{"JWT_SECRET=" + hs256}, args: []string{"--user", "ana", "bob"}, want: "bob"},
	} {
		p := start(t, tt.environ, append([]string{"token"}, tt.args...)...)
		if code := p.wait(); code != 2 || !strings.Contains(p.err.String(), tt.want) || p.out.String() != "" {
			t.Errorf("%s: %d, %q on standard output, %s", name, code, &p.out, &p.err)
		}
		if said := p.err.String(); strings.Contains(said, hs256) || strings.Contains(said, "too-short") {
			t.Errorf("%s: the key stands in %s", name, said)
		}
	}
}

func TestHealthcheck(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	p := start(t, []string{"ADMIN_ADDR=" + c.Gateways[0].Admin}, "healthcheck")
	if code := p.wait(); code != 0 {
		t.Errorf("a gateway that is well: %d %s", code, &p.err)
	}
	// An engine reserves every other code.
	for _, args := range [][]string{{"healthcheck", "--admin-addr", "127.0.0.1:1"}, {"healthcheck", "--life"}} {
		p := start(t, nil, args...)
		if code := p.wait(); code != 1 || p.err.String() == "" {
			t.Errorf("%v: %d %s", args, code, &p.err)
		}
	}
}
