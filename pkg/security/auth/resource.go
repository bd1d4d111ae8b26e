package auth

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// ResourcePath is that of the MCP endpoint, for which MCP clients get tokens from an authorization server.
const ResourcePath = "/mcp"

// MetadataPath is where a client that knows the gateway's address alone asks about the resource; the full path of RFC 9728, which
// names the resource, is MetadataPath + [ResourcePath].
const MetadataPath = "/.well-known/oauth-protected-resource"

// Metadata describes the MCP endpoint as a resource (RFC 9728).
type Metadata struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers,omitempty"`
	ScopesSupported      []string `json:"scopes_supported"`
	BearerMethods        []string `json:"bearer_methods_supported"`
	Name                 string   `json:"resource_name"`
}

// Metadata returns what a client of r has to know to get a token.
func (a *Authenticator) Metadata(r *http.Request) Metadata {
	m := Metadata{
		Resource: a.base(r) + ResourcePath, AuthorizationServers: a.servers, BearerMethods: []string{"header"}, Name: "Hecaton",
	}
	for _, s := range []Scope{ToolsRead, ToolsCall, AgentRun} { // Full is to be asked for on purpose
		m.ScopesSupported = append(m.ScopesSupported, string(s))
	}
	return m
}

// base is the gateway's own URL: as configured, or as the client has it.
func (a *Authenticator) base(r *http.Request) string {
	if a.resource != "" {
		return strings.TrimSuffix(a.resource, ResourcePath)
	}
	plain := func(c rune) rune {
		if strings.ContainsRune("\"\\<> ", c) { // it is put into a header between quotes
			return -1
		}
		return c
	}
	u := url.URL{Scheme: "http", Host: strings.Map(plain, r.Host)}
	if r.TLS != nil {
		u.Scheme = "https"
	}
	return u.String()
}

// ForResource refuses a token that was issued for another resource than the MCP endpoint, as an *[Error]. A client may have brought
// the token of a server that it talks to as well; that server must not get in with it. Where no audience is configured, a token
// that names one is refused: the address in a request proves nothing.
func (a *Authenticator) ForResource(id Identity) error {
	if id.Claims == nil { // trusted, or a token that was made here
		return nil
	}
	given, err := jwt.MapClaims(id.Claims).GetAudience()
	if err == nil && (len(given) == 0 || slices.ContainsFunc(given, func(aud string) bool { return slices.Contains(a.audiences, aud) })) {
		return nil
	}
	return refuse(Unauthenticated, err, "the token is for another audience than this MCP endpoint, which PUBLIC_URL and JWT_AUDIENCE name")
}

// Challenge returns the WWW-Authenticate header that is owed to the client of a request that was refused (RFC 9110, section 11.6.1,
// RFC 6750, section 3); empty where none is. At the MCP endpoint it says where to learn how to get a token.
func (a *Authenticator) Challenge(r *http.Request, err error) string {
	var scope *ScopeError
	var who *Error
	challenge := Challenge
	switch {
	case errors.Is(err, errs.InsufficientScope):
		challenge += `, error="insufficient_scope"`
		if errors.As(err, &scope) && len(scope.Scopes) > 0 {
			challenge += `, scope="` + joined(scope.Scopes) + `"`
		}
	case errors.As(err, &who) && who.Kind == Unauthenticated:
		if r.Header.Get("Authorization") != "" {
			challenge += `, error="invalid_token"`
		}
		if r.URL.Path == ResourcePath {
			challenge += `, scope="` + joined(UseTools.Scopes) + `"`
		}
	default:
		return ""
	}
	if r.URL.Path == ResourcePath && a.mode == JWT {
		challenge += `, resource_metadata="` + a.base(r) + MetadataPath + ResourcePath + `"`
	}
	return challenge
}

// resource is the URL of the MCP endpoint, where it is configured.
func (c Config) resource() string {
	if c.PublicURL == "" {
		return ""
	}
	return strings.TrimRight(c.PublicURL, "/") + ResourcePath
}

// audiences are those whose tokens are for here, where any are configured.
func (c Config) audiences() (list []string) {
	for _, aud := range []string{c.Audience, c.resource()} {
		if aud != "" {
			list = append(list, aud)
		}
	}
	return list
}

func (c Config) servers() []string {
	if u, err := url.Parse(c.Issuer); len(c.AuthorizationServers) == 0 && c.Mode != Trusted && err == nil && u.Scheme == "https" {
		return []string{c.Issuer}
	}
	return c.AuthorizationServers
}

// checkURLs reports addresses that no client could use.
func (c Config) checkURLs() (problems []error) {
	check := func(env, text, example string) {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" || u.User != nil ||
			strings.ContainsAny(text, `"\ `) {
			problems = append(problems, fmt.Errorf("%s: %q is no URL such as %s", env, text, example))
		}
	}
	if c.PublicURL != "" {
		check("PUBLIC_URL", c.PublicURL, "https://hecaton.example.org")
	}
	for _, s := range c.AuthorizationServers {
		check("AUTHORIZATION_SERVERS", s, "https://login.example.org")
	}
	return problems
}
