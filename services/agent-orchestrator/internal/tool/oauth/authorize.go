package oauth

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// maxScopes bounds the scopes of a request, in bytes.
const maxScopes = 4 << 10

// Validate reports pages to which a code must not be sent.
func (c Config) Validate() error {
	var problems []error
	for _, page := range c.RedirectURIs {
		u, err := url.Parse(page)
		switch {
		case err != nil, u.Host == "", u.Fragment != "", u.User != nil, strings.Contains(page, "*"):
			err = errors.New("not the whole address of a page")
		case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u)):
			err = errors.New("must begin with https://; http:// is for loopback")
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("OAUTH_REDIRECT_URIS: %q: %w", page, err))
		}
	}
	return errors.Join(problems...)
}

// CheckRedirect refuses pages that were not configured: another page could use the code that it gets.
func (s *Source) CheckRedirect(page string) error {
	if page == "" {
		return errs.New(errs.InvalidArgument, "redirect_uri is required")
	}
	if slices.ContainsFunc(s.redirects, func(allowed string) bool { return samePage(allowed, page) }) {
		return nil
	}
	return errs.New(errs.InvalidArgument, "redirect_uri is not one of OAUTH_REDIRECT_URIS")
}

// samePage compares byte by byte (RFC 6749, section 3.1.2.3), except for the port of a loopback address, which programs on a
// user's machine cannot choose in advance (RFC 8252, section 7.3).
func samePage(allowed, page string) bool {
	if allowed == page {
		return true
	}
	a, errA := url.Parse(allowed)
	p, errP := url.Parse(page)
	if errA != nil || errP != nil || !loopback(a) || !loopback(p) {
		return false
	}
	a.Host = net.JoinHostPort(a.Hostname(), p.Port())
	p.Host = net.JoinHostPort(p.Hostname(), p.Port())
	return a.String() == p.String()
}

// loopback reports whether a page's host is a loopback address. A name does not count: it can be made to resolve elsewhere.
func loopback(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return ip != nil && ip.IsLoopback()
}

// NewVerifier returns a new PKCE code verifier (RFC 7636), which binds a code to the one who asked for it; "" if the provider has
// no PKCE.
func (s *Source) NewVerifier(name string) string {
	if p := s.providers[name]; p == nil || !p.pkce {
		return ""
	}
	return oauth2.GenerateVerifier()
}

// AuthorizationURL returns the address to which the user's browser is sent. Errors: [errs.InvalidArgument].
func (s *Source) AuthorizationURL(name, redirectURI, state, verifier string, scopes []string) (string, error) {
	p := s.providers[name]
	if p == nil {
		return "", CheckProvider(name)
	}
	if err := p.ready(); err != nil {
		return "", err
	}
	if len(strings.Join(scopes, " ")) > maxScopes {
		return "", errs.New(errs.InvalidArgument, "scopes has more than %d bytes", maxScopes)
	}
	if len(scopes) == 0 {
		scopes = p.scopes
	}
	c := oauth2.Config{ClientID: p.creds.ClientID, RedirectURL: redirectURI, Scopes: scopes, Endpoint: oauth2.Endpoint{AuthURL: p.authURL}}
	var also []oauth2.AuthCodeOption
	for key, value := range p.ask {
		also = append(also, oauth2.SetAuthURLParam(key, value))
	}
	if verifier != "" {
		also = append(also, oauth2.S256ChallengeOption(verifier))
	}
	return c.AuthCodeURL(state, also...), nil
}

// ready refuses a provider for which this installation has no client id or secret.
func (p *provider) ready() error {
	if p.creds.ClientID == "" || p.creds.ClientSecret == "" {
		return errs.New(errs.InvalidArgument, "%s is not set up here: %sCLIENT_ID and %sCLIENT_SECRET are missing", p.title, p.env, p.env)
	}
	return nil
}
