package auth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
)

// keyServer publishes a JWK set.
type keyServer struct {
	*httptest.Server
	fetches atomic.Int64

	mu     sync.Mutex
	answer string        // guarded by mu
	status int           // guarded by mu
	hold   chan struct{} // guarded by mu; fetches wait for it where it is not nil
}

func newKeyServer(t *testing.T) *keyServer {
	t.Helper()
	s := &keyServer{status: http.StatusOK, answer: `{"keys":[]}`}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.fetches.Add(1)
		s.mu.Lock()
		answer, status, hold := s.answer, s.status, s.hold
		s.mu.Unlock()
		if hold != nil {
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *keyServer) set(status int, answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.answer = status, answer
}

// publish makes the server answer with keys by kid.
func (s *keyServer) publish(t *testing.T, keys map[string]any) {
	t.Helper()
	var set jwkset.JWKSMarshal
	for kid, key := range keys {
		jwk, err := jwkset.NewJWKFromKey(key, jwkset.JWKOptions{
			Metadata: jwkset.JWKMetadataOptions{KID: kid}, Marshal: jwkset.JWKMarshalOptions{Private: true},
		})
		if err != nil {
			t.Fatal(err)
		}
		set.Keys = append(set.Keys, jwk.Marshal())
	}
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	s.set(http.StatusOK, string(text))
}

// remote returns an Authenticator for the keys of s that waits pause between fetches of unknown keys.
func remote(t *testing.T, s *keyServer, pause time.Duration) *Authenticator {
	t.Helper()
	a, err := New(Config{JWKSURL: s.URL, Issuer: "https://issuer.example", Audience: "hecaton"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.remote.pause = pause
	return a
}

func newEd(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func tokenOf(t *testing.T, key any, kid string) string {
	t.Helper()
	token, err := Mint(key, Claims{User: "alice", Issuer: "https://issuer.example", Audience: "hecaton", KeyID: kid, Expires: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestJWKS(t *testing.T) {
	t.Parallel()
	ed, other := newEd(t), newEd(t)
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	shared := []byte("0123456789abcdef0123456789abcdef")
	s := newKeyServer(t)
	s.publish(t, map[string]any{"ed": ed.Public(), "ec": ec.Public(), "oct": shared})
	a := remote(t, s, time.Hour)

	symmetric := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": "alice", "iss": "https://issuer.example", "aud": "hecaton", "exp": time.Now().Add(time.Hour).Unix()})
	symmetric.Header["kid"] = "oct"
	withShared, err := symmetric.SignedString(shared)
	if err != nil {
		t.Fatal(err)
	}
	odd := jwt.NewWithClaims(jwt.SigningMethodEdDSA, jwt.MapClaims{"sub": "alice", "iss": "https://issuer.example", "aud": "hecaton", "exp": time.Now().Add(time.Hour).Unix()})
	odd.Header["kid"] = 7
	withOddKid, err := odd.SignedString(crypto.Signer(ed))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		token string
		good  bool
	}{
		"EdDSA":                           {tokenOf(t, ed, "ed"), true},
		"ES256":                           {tokenOf(t, ec, "ec"), true},
		"a key under another's kid":       {tokenOf(t, ed, "ec"), false},
		"a foreign key under a known kid": {tokenOf(t, other, "ed"), false},
		"an unknown kid":                  {tokenOf(t, ed, "gone"), false},
		"no kid":                          {tokenOf(t, ed, ""), false},
		"a kid that is no string":         {withOddKid, false},
		"a published secret":              {withShared, false},
	} {
		_, err := a.Verify(t.Context(), tt.token)
		if tt.good != (err == nil) || (err != nil && !errors.Is(err, Unauthenticated)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestJWKSUnknownKeysAreFetchedAtALimitedRate(t *testing.T) {
	t.Parallel()
	old, fresh := newEd(t), newEd(t)
	s := newKeyServer(t)
	s.publish(t, map[string]any{"old": old.Public()})
	a := remote(t, s, time.Hour)
	if _, err := a.Verify(t.Context(), tokenOf(t, old, "old")); err != nil {
		t.Fatal(err)
	}
	token := tokenOf(t, fresh, "fresh")
	var flood sync.WaitGroup
	for range 50 {
		flood.Go(func() {
			if _, err := a.Verify(t.Context(), token); !errors.Is(err, Unauthenticated) {
				t.Errorf("got %v", err)
			}
		})
	}
	flood.Wait()
	if n := s.fetches.Load(); n != 1 {
		t.Errorf("%d fetches, want only the first", n)
	}
	// Once the pause is over, a rotated key is found by the first token that names it.
	s.publish(t, map[string]any{"fresh": fresh.Public()})
	a.remote.pause = 0
	if _, err := a.Verify(t.Context(), token); err != nil {
		t.Errorf("the new key was not fetched: %v", err)
	}
	if _, err := a.Verify(t.Context(), tokenOf(t, old, "old")); err == nil {
		t.Error("the withdrawn key still counts")
	}
}

func TestJWKSFailsStatic(t *testing.T) {
	t.Parallel()
	key := newEd(t)
	s := newKeyServer(t)
	s.publish(t, map[string]any{"k": key.Public()})
	a := remote(t, s, 0)
	s.mu.Lock()
	bait := strings.Replace(s.answer, `"kid":"k"`, `"kid":"unknown"`, 1) // would make the unknown key known
	s.mu.Unlock()
	if err := a.Check(t.Context()); err == nil {
		t.Error("ready before any key was fetched")
	}
	if _, err := a.Verify(t.Context(), tokenOf(t, key, "k")); err != nil {
		t.Fatal(err)
	}
	for name, answer := range map[string]struct {
		status int
		body   string
	}{
		"an error":     {500, "oops"},
		"no keys":      {200, `{"keys":[]}`},
		"no JSON":      {200, "<html>"},
		"far too much": {200, `{"x":"` + strings.Repeat("x", jwksBytes) + `",` + strings.TrimPrefix(bait, "{")},
	} {
		s.set(answer.status, answer.body)
		before := s.fetches.Load()
		if _, err := a.Verify(t.Context(), tokenOf(t, key, "unknown")); !errors.Is(err, Unauthenticated) {
			t.Errorf("%s: got %v", name, err)
		}
		if s.fetches.Load() != before+1 {
			t.Errorf("%s: nothing was fetched", name)
		}
		if _, err := a.Verify(t.Context(), tokenOf(t, key, "k")); err != nil {
			t.Errorf("%s: the last good key was lost: %v", name, err)
		}
	}
	if err := a.Check(t.Context()); err != nil {
		t.Errorf("not ready although tokens can be verified: %v", err)
	}
}

func TestJWKSRunFetchesAndEnds(t *testing.T) {
	t.Parallel()
	key := newEd(t)
	s := newKeyServer(t)
	s.set(http.StatusServiceUnavailable, "")
	a := remote(t, s, time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	s.publish(t, map[string]any{"k": key.Public()})
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for a.Check(ctx) != nil { // after a failure Run tries again soon
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("Run never fetched the keys")
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A caller who gives up is let go; the fetch goes on for the others.
func TestJWKSWaitersHeedTheirContext(t *testing.T) {
	t.Parallel()
	key := newEd(t)
	s := newKeyServer(t)
	s.publish(t, map[string]any{"k": key.Public()})
	hold := make(chan struct{})
	s.mu.Lock()
	s.hold = hold
	s.mu.Unlock()
	a := remote(t, s, time.Hour)
	first := make(chan error, 1)
	impatient, giveUp := context.WithCancel(t.Context())
	go func() {
		_, err := a.Verify(impatient, tokenOf(t, key, "k"))
		first <- err
	}()
	for len(a.remote.fetching) == 0 {
		select {
		case err := <-first:
			t.Fatal(err)
		case <-time.After(time.Millisecond):
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Verify(gone, tokenOf(t, key, "k")); !errors.Is(err, Unauthenticated) {
		t.Errorf("got %v", err)
	}
	giveUp()
	close(hold)
	if err := <-first; err != nil {
		t.Errorf("the fetch was lost with its first caller: %v", err)
	}
}

func TestJWKSRedirects(t *testing.T) {
	t.Parallel()
	get := func(scheme string) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, scheme+"://issuer.example/keys", nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if sameScheme(get("http"), []*http.Request{get("https")}) == nil {
		t.Error("https may become http")
	}
	if err := sameScheme(get("https"), []*http.Request{get("https")}); err != nil {
		t.Error(err)
	}
	if sameScheme(get("https"), []*http.Request{get("https"), nil, nil, nil, nil}) == nil {
		t.Error("redirects have no end")
	}
}

func TestRunAndCheckWithoutJWKS(t *testing.T) {
	t.Parallel()
	a, err := New(Config{Mode: Trusted}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a.Run(t.Context()) != nil || a.Check(t.Context()) != nil {
		t.Error("there is nothing to run and nothing to fail")
	}
}
