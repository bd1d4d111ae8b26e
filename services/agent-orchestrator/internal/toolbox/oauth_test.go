package toolbox_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// page is where users come back to.
const page = "https://app.example/done"

func (b *box) begin(t *testing.T, user ids.UserID) string {
	t.Helper()
	got, err := b.AuthorizeOAuth(as(t, user), &agentv1.AuthorizeOAuthRequest{Provider: "github", RedirectUri: page})
	if err != nil {
		t.Fatal(err)
	}
	where, err := url.Parse(got.GetAuthorizationUrl())
	if err != nil || where.Query().Get("state") != got.GetState() || where.Query().Get("code_challenge") == "" || got.GetExpiresAt() < 1e9 {
		t.Errorf("%v, %v", got, err)
	}
	return got.GetState()
}

func TestExchangeOAuth(t *testing.T) {
	t.Parallel()
	keys, db := []config.Secret{seal.NewKey()}, database(t)
	one := start(t, options{provider: github(t), keys: keys, store: db})
	two := start(t, options{provider: github(t), keys: keys, store: db}) // another pod
	state := one.begin(t, "ana")
	ask := &agentv1.ExchangeOAuthRequest{Provider: "github", Code: "C", RedirectUri: page, State: state}
	got, err := two.ExchangeOAuth(as(t, "ana"), ask)
	if err != nil || got.GetAccessToken() != "A" || got.GetRefreshToken() != "R" || got.GetExpiresAt() < 1e9 || got.GetTokenType() != "Bearer" {
		t.Errorf("%v, %v", got, err)
	}
	for _, b := range []*box{one, two} {
		if _, err := b.ExchangeOAuth(as(t, "ana"), ask); !errors.Is(ours(err), errs.InvalidArgument) || !strings.Contains(err.Error(), "used before") {
			t.Errorf("a second time: %v", err)
		}
	}
	if _, err := one.ExchangeOAuth(as(t, "ana"), &agentv1.ExchangeOAuthRequest{Provider: "github", Code: "C", State: one.begin(t, "ana")}); err != nil {
		t.Errorf("without redirect_uri: %v", err)
	}
}

// What is wrong is told before the provider is asked, and uses no state up.
func TestExchangeOAuthRefused(t *testing.T) {
	t.Parallel()
	b := start(t, options{provider: github(t)})
	state := b.begin(t, "ana")
	good := agentv1.ExchangeOAuthRequest{Provider: "github", Code: "C", RedirectUri: page, State: state}
	for name, tt := range map[string]struct {
		user   ids.UserID
		change func(*agentv1.ExchangeOAuthRequest)
	}{
		"another's state":    {"bob", func(*agentv1.ExchangeOAuthRequest) {}},
		"no state":           {"ana", func(r *agentv1.ExchangeOAuthRequest) { r.State = "" }},
		"one that is cut":    {"ana", func(r *agentv1.ExchangeOAuthRequest) { r.State = r.GetState()[4:] }},
		"one that is no one": {"ana", func(r *agentv1.ExchangeOAuthRequest) { r.State = "é" }},
		"one without end":    {"ana", func(r *agentv1.ExchangeOAuthRequest) { r.State = strings.Repeat("A", 1<<20) }},
		"another provider":   {"ana", func(r *agentv1.ExchangeOAuthRequest) { r.Provider = "gmail" }},
		"no provider":        {"ana", func(r *agentv1.ExchangeOAuthRequest) { r.Provider = "" }},
		"another page":       {"ana", func(r *agentv1.ExchangeOAuthRequest) { r.RedirectUri = "https://evil.example" }},
		"no code":            {"ana", func(r *agentv1.ExchangeOAuthRequest) { r.Code = "" }},
	} {
		ask := &agentv1.ExchangeOAuthRequest{Provider: good.Provider, Code: good.Code, RedirectUri: good.RedirectUri, State: good.State}
		tt.change(ask)
		if _, err := b.ExchangeOAuth(as(t, tt.user), ask); !errors.Is(ours(err), errs.InvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := b.ExchangeOAuth(t.Context(), &good); err == nil {
		t.Error("somebody without a name is served")
	}
	if _, err := b.ExchangeOAuth(as(t, "ana"), &good); err != nil {
		t.Errorf("it was used up by what was refused: %v", err)
	}
	for _, ask := range []*agentv1.AuthorizeOAuthRequest{
		{Provider: "github"}, {Provider: "github", RedirectUri: "https://evil.example"}, {Provider: "gitlab", RedirectUri: page}, {Provider: "slack", RedirectUri: page},
	} {
		if _, err := b.AuthorizeOAuth(as(t, "ana"), ask); !errors.Is(ours(err), errs.InvalidArgument) {
			t.Errorf("%v: %v", ask, err)
		}
	}
}

// A state is good for ten minutes.
func TestAnAuthorizationExpires(t *testing.T) {
	t.Parallel()
	key := seal.NewKey()
	b := start(t, options{provider: github(t), keys: []config.Secret{key}})
	sealer, err := seal.New(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, left := range []time.Duration{-time.Second, time.Minute} {
		sealed, err := sealer.Seal(seal.OAuthState, "ana", fmt.Appendf(nil, `{"provider":"github","redirect_uri":%q,"expires":%d}`, page, time.Now().Add(left).Unix()))
		if err != nil {
			t.Fatal(err)
		}
		_, err = b.ExchangeOAuth(as(t, "ana"), &agentv1.ExchangeOAuthRequest{
			Provider: "github", Code: "C", State: base64.RawURLEncoding.EncodeToString(sealed),
		})
		if over := left < 0; over != (err != nil) || over && !strings.Contains(err.Error(), "10 minutes ago") {
			t.Errorf("with %v left: %v", left, err)
		}
	}
}
