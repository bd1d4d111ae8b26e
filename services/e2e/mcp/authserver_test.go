package mcp_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/compose"
	"github.com/ory/fosite/handler/oauth2"
	"github.com/ory/fosite/storage"
	"github.com/ory/fosite/token/jwt"
)

// authServer is an authorization server whose user is ana, who agrees to everything.
type authServer struct {
	*httptest.Server
	key      *rsa.PrivateKey
	provider fosite.OAuth2Provider
	clients  *storage.MemoryStore
	// documents fetches those of clients that are known by a URL.
	documents *http.Client

	mu         sync.Mutex
	registered int
	fetched    int
}

const keyID = "k1"

func startAuthServer(t *testing.T) *authServer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	s := &authServer{key: key, clients: storage.NewMemoryStore()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", s.metadata)
	mux.HandleFunc("GET /jwks", s.jwks)
	mux.HandleFunc("POST /register", s.register)
	mux.HandleFunc("GET /authorize", s.authorize)
	mux.HandleFunc("POST /token", s.token)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	config := &fosite.Config{
		GlobalSecret: []byte(strings.Repeat("g", 32)), AccessTokenIssuer: s.URL, JWTScopeClaimKey: jwt.JWTScopeFieldString,
		ScopeStrategy: fosite.ExactScopeStrategy, EnforcePKCE: true, AccessTokenLifespan: time.Hour,
	}
	signer := func(context.Context) (any, error) { return key, nil }
	s.provider = compose.Compose(config, s.clients,
		&compose.CommonStrategy{CoreStrategy: compose.NewOAuth2JWTStrategy(signer, compose.NewOAuth2HMACStrategy(config), config)},
		compose.OAuth2AuthorizeExplicitFactory, compose.OAuth2PKCEFactory)
	return s
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (s *authServer) metadata(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{
		"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token",
		"registration_endpoint": s.URL + "/register", "jwks_uri": s.URL + "/jwks", "response_types_supported": []string{"code"},
		"grant_types_supported": []string{"authorization_code"}, "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported": []string{"none"}, "client_id_metadata_document_supported": true,
		"authorization_response_iss_parameter_supported": true,
	})
}

func (s *authServer) jwks(w http.ResponseWriter, _ *http.Request) {
	number := func(n *big.Int) string { return base64.RawURLEncoding.EncodeToString(n.Bytes()) }
	reply(w, http.StatusOK, map[string]any{"keys": []any{map[string]any{
		"kty": "RSA", "use": "sig", "alg": "RS256", "kid": keyID, "n": number(s.key.N), "e": number(big.NewInt(int64(s.key.E))),
	}}})
}

// add makes a client known.
func (s *authServer) add(id string, redirects []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients.Clients[id] = &fosite.DefaultClient{
		ID: id, RedirectURIs: redirects, GrantTypes: []string{"authorization_code"}, ResponseTypes: []string{"code"},
		Scopes: []string{"tools:read", "tools:call", "agent:run"}, Public: true,
	}
}

// register is that of RFC 7591.
func (s *authServer) register(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		RedirectURIs []string `json:"redirect_uris"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		reply(w, http.StatusBadRequest, map[string]string{"error": "invalid_client_metadata"})
		return
	}
	id := rand.Text()
	s.add(id, asked.RedirectURIs)
	s.mu.Lock()
	s.registered++
	s.mu.Unlock()
	reply(w, http.StatusCreated, map[string]any{
		"client_id": id, "redirect_uris": asked.RedirectURIs, "token_endpoint_auth_method": "none",
		"grant_types": []string{"authorization_code"}, "response_types": []string{"code"},
	})
}

// document learns of a client from the document at its id.
func (s *authServer) document(id string) {
	resp, err := s.documents.Get(id)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	var doc struct {
		ClientID     string   `json:"client_id"`
		RedirectURIs []string `json:"redirect_uris"`
	}
	if json.NewDecoder(resp.Body).Decode(&doc) == nil && doc.ClientID == id {
		s.add(id, doc.RedirectURIs)
		s.mu.Lock()
		s.fetched++
		s.mu.Unlock()
	}
}

func (s *authServer) session() *oauth2.JWTSession {
	return &oauth2.JWTSession{
		JWTClaims: &jwt.JWTClaims{Subject: "ana", Issuer: s.URL}, JWTHeader: &jwt.Headers{Extra: map[string]any{"kid": keyID}}, Subject: "ana",
	}
}

func (s *authServer) authorize(w http.ResponseWriter, r *http.Request) {
	if id := r.FormValue("client_id"); strings.HasPrefix(id, "https://") {
		s.document(id)
	}
	ar, err := s.provider.NewAuthorizeRequest(r.Context(), r)
	if err != nil {
		s.provider.WriteAuthorizeError(r.Context(), w, ar, err)
		return
	}
	for _, scope := range ar.GetRequestedScopes() {
		ar.GrantScope(scope)
	}
	for _, resource := range r.Form["resource"] { // RFC 8707
		ar.GrantAudience(resource)
	}
	resp, err := s.provider.NewAuthorizeResponse(r.Context(), ar, s.session())
	if err != nil {
		s.provider.WriteAuthorizeError(r.Context(), w, ar, err)
		return
	}
	resp.AddParameter("iss", s.URL)
	s.provider.WriteAuthorizeResponse(r.Context(), w, ar, resp)
}

func (s *authServer) token(w http.ResponseWriter, r *http.Request) {
	ar, err := s.provider.NewAccessRequest(r.Context(), r, s.session())
	if err != nil {
		s.provider.WriteAccessError(r.Context(), w, ar, err)
		return
	}
	resp, err := s.provider.NewAccessResponse(r.Context(), ar)
	if err != nil {
		s.provider.WriteAccessError(r.Context(), w, ar, err)
		return
	}
	s.provider.WriteAccessResponse(r.Context(), w, ar, resp)
}

// browse is ana's browser: it opens an address, and returns where it is sent to.
func browse(ctx context.Context, address string) (url.Values, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		return nil, err
	}
	return to.Query(), nil
}
