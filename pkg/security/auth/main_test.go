package auth_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	secret   config.Secret = "0123456789abcdef0123456789abcdef"
	issuer   string        = "https://issuer.example"
	audience string        = "hecaton"
)

// rsaKey is made once: it takes long.
var rsaKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func ecKey(t *testing.T, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func edKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func pemOf(t *testing.T, public any) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func authenticator(t *testing.T, cfg auth.Config) *auth.Authenticator {
	t.Helper()
	a, err := auth.New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// good are claims that every test's authenticator accepts.
func good() auth.Claims {
	return auth.Claims{User: "alice", Issuer: issuer, Audience: audience, Expires: time.Now().Add(time.Hour)}
}

func mint(t *testing.T, key any, c auth.Claims) string {
	t.Helper()
	token, err := auth.Mint(key, c)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// request is a GET with headers given as pairs.
func request(t *testing.T, target string, headers ...string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

// wantRefusal asserts the kind of err, its status, and that its message does not hold the token.
func wantRefusal(t *testing.T, err error, kind auth.Kind, token string) {
	t.Helper()
	var refusal *auth.Error
	if !errors.As(err, &refusal) || !errors.Is(err, kind) {
		t.Errorf("got %v, want %s", err, kind)
		return
	}
	status := map[auth.Kind]int{auth.BadRequest: 400, auth.Unauthenticated: 401, auth.Forbidden: 403}[kind]
	if refusal.HTTPStatus() != status || refusal.Message == "" {
		t.Errorf("status %d, message %q", refusal.HTTPStatus(), refusal.Message)
	}
	for part := range strings.SplitSeq(token, ".") {
		if len(part) > 3 && (strings.Contains(err.Error(), part) || (refusal.Err != nil && strings.Contains(refusal.Err.Error(), part))) {
			t.Errorf("the refusal repeats a part of the token: %v, %v", err, refusal.Err)
		}
	}
}
