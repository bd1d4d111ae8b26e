package oauth

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

const (
	exchangeTimeout = 15 * time.Second
	maxTokenReply   = 1 << 20
)

// Token is what a provider gave for a code.
type Token struct {
	Access  string
	Refresh string    // "" for none
	Expires time.Time // zero for never
}

// Exchange turns an authorization code into a token; verifier is that of its authorization, or "". Errors:
// [errs.InvalidArgument], also if the provider refuses the code, and [errs.AgentUnavailable] if it cannot be reached.
func (s *Source) Exchange(ctx context.Context, name, code, redirectURI, verifier string) (Token, error) {
	if err := CheckProvider(name); err != nil {
		return Token{}, err
	}
	for field, value := range map[string]string{"code": code, "redirect_uri": redirectURI} {
		if value == "" {
			return Token{}, errs.New(errs.InvalidArgument, "%s is required", field)
		}
	}
	fields := map[string]string{"grant_type": "authorization_code", "code": code, "redirect_uri": redirectURI}
	if verifier != "" {
		fields["code_verifier"] = verifier
	}
	return s.token(ctx, s.providers[name], fields)
}

func (s *Source) refresh(ctx context.Context, p *provider, refreshToken string) (Token, error) {
	t, err := s.token(ctx, p, map[string]string{"grant_type": "refresh_token", "refresh_token": refreshToken})
	t.Refresh = cmp.Or(t.Refresh, refreshToken) // Google gives no new one
	return t, err
}

// token asks a provider's token endpoint.
func (s *Source) token(ctx context.Context, p *provider, fields map[string]string) (Token, error) {
	if err := p.ready(); err != nil {
		return Token{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	r, err := tokenRequest(ctx, p, fields)
	if err != nil {
		return Token{}, errs.New(errs.Internal, "%s has no valid address", p.title)
	}
	response, err := s.http.Do(r)
	if err != nil {
		return Token{}, errs.New(errs.AgentUnavailable, "%s cannot be reached", p.title)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxTokenReply))
	if err != nil || response.StatusCode >= 500 {
		return Token{}, errs.New(errs.AgentUnavailable, "%s does not answer (HTTP status %d)", p.title, response.StatusCode)
	}
	return readToken(p, response.StatusCode, body)
}

func tokenRequest(ctx context.Context, p *provider, fields map[string]string) (*http.Request, error) {
	var body []byte
	contentType := "application/x-www-form-urlencoded"
	if p.basic {
		body, _ = json.Marshal(fields) // of strings
		contentType = "application/json"
	} else {
		form := url.Values{"client_id": {p.creds.ClientID}, "client_secret": {p.creds.ClientSecret.Reveal()}}
		for name, value := range fields {
			form.Set(name, value)
		}
		body = []byte(form.Encode())
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.tokenURL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range p.header {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Accept", "application/json") // GitHub answers with a form otherwise
	r.Header.Set("User-Agent", userAgent)
	if p.basic {
		r.SetBasicAuth(p.creds.ClientID, p.creds.ClientSecret.Reveal())
	}
	return r, nil
}

// readToken reads the answers of all five: they have access_token on success; GitHub and Slack report errors with status
// 200.
func readToken(p *provider, status int, body []byte) (Token, error) {
	var reply struct {
		AccessToken  string          `json:"access_token"`
		RefreshToken string          `json:"refresh_token"`
		ExpiresIn    float64         `json:"expires_in"`
		OK           *bool           `json:"ok"`    // Slack
		Error        json.RawMessage `json:"error"` // a string
		AuthedUser   struct {        // Slack, if only a user's scopes were asked for
			AccessToken  string  `json:"access_token"`
			RefreshToken string  `json:"refresh_token"`
			ExpiresIn    float64 `json:"expires_in"`
		} `json:"authed_user"`
	}
	if err := json.Unmarshal(body, &reply); err != nil {
		return Token{}, errs.New(errs.AgentUnavailable, "%s answers with HTTP status %d and no JSON", p.title, status)
	}
	if reply.AccessToken == "" {
		reply.AccessToken, reply.RefreshToken, reply.ExpiresIn = reply.AuthedUser.AccessToken, reply.AuthedUser.RefreshToken, reply.AuthedUser.ExpiresIn
	}
	if status >= 300 || reply.AccessToken == "" || reply.OK != nil && !*reply.OK {
		return Token{}, errs.New(errs.InvalidArgument, "%s refused: %s", p.title, code(reply.Error, status))
	}
	t := Token{Access: reply.AccessToken, Refresh: reply.RefreshToken}
	if reply.ExpiresIn > 0 {
		t.Expires = time.Now().Add(time.Duration(reply.ExpiresIn * float64(time.Second))).Truncate(time.Second)
	}
	return t, nil
}

// code is the provider's own error code, if it is one word.
func code(raw json.RawMessage, status int) string {
	var word string
	if json.Unmarshal(raw, &word) == nil && word != "" && len(word) < 64 && !strings.ContainsAny(word, " \n") {
		return word
	}
	return fmt.Sprintf("HTTP status %d", status)
}
