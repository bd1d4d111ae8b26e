package auth

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

// Mode says how a user proves who it is.
type Mode string

const (
	// JWT: users show a signed token.
	JWT Mode = "jwt"
	// Trusted: users are whoever they claim to be. Only for a cluster that nobody else can reach.
	Trusted Mode = "trusted"
)

// UnmarshalText refuses unknown modes.
func (m *Mode) UnmarshalText(text []byte) error {
	switch got := Mode(text); got {
	case JWT, Trusted:
		*m = got
		return nil
	default:
		return fmt.Errorf("%q is not jwt or trusted", text)
	}
}

// minSecret is the length of the shortest HS256 secret: that of the hash (RFC 7518, section 3.2).
const minSecret = 32

// Config says how users are authenticated. The zero Mode is [JWT], which needs exactly one key; [Trusted] looks at none.
type Config struct {
	Mode      Mode          `conf:"auth-mode" env:"AUTH_MODE" default:"jwt" help:"jwt, or trusted: ids in the URL are believed (loopback only)"`
	Secret    config.Secret `conf:"jwt-secret" env:"JWT_SECRET" help:"key of HS256 tokens, at least 32 bytes; several, separated by commas, are all accepted"`
	PublicKey string        `conf:"jwt-public-key" env:"JWT_PUBLIC_KEY" help:"key of RS, PS, ES or EdDSA tokens: PEM, or the path of a PEM file"`
	JWKSURL   string        `conf:"jwt-jwks-url" env:"JWT_JWKS_URL" help:"where the issuer publishes its keys"`
	Issuer    string        `conf:"jwt-issuer" env:"JWT_ISSUER" help:"required iss of a token; may be empty with JWT_SECRET only, which accepts any"`
	Audience  string        `conf:"jwt-audience" env:"JWT_AUDIENCE" help:"required aud of a token; may be empty with JWT_SECRET only, which accepts any"`
	// FullScopes are for issuers who put the same scopes into all their tokens.
	FullScopes []string `conf:"jwt-full-scopes" env:"JWT_FULL_SCOPES" help:"scopes of your issuer that mean everything a user may do; a token with other scopes may do what they say, one without any everything"`
	// PublicURL is where users reach the gateways; tokens for the MCP endpoint below it are accepted.
	PublicURL string `conf:"public-url" env:"PUBLIC_URL" help:"URL under which users reach the gateways, such as https://hecaton.example.org: tokens with the audience <it>/mcp are accepted, and MCP clients told of it"`
	// AuthorizationServers are what MCP clients are told.
	AuthorizationServers []string      `conf:"authorization-servers" env:"AUTHORIZATION_SERVERS" help:"URLs of the authorization servers that MCP clients get their tokens from; JWT_ISSUER where empty and it is a URL"`
	Leeway               time.Duration `conf:"jwt-leeway" env:"JWT_LEEWAY" default:"10s" help:"how far the issuer's clock may be off"`
}

// Validate reports what cannot work.
func (c Config) Validate() error {
	problems := c.checkURLs()
	if c.Mode == Trusted {
		return errors.Join(problems...)
	}
	if c.Leeway < 0 || c.Leeway > Grace {
		problems = append(problems, fmt.Errorf("JWT_LEEWAY is %s; 0 to 1m is allowed", c.Leeway))
	}
	given := 0
	for _, set := range []bool{c.Secret.First() != "", c.PublicKey != "", c.JWKSURL != ""} {
		if set {
			given++
		}
	}
	if given != 1 {
		problems = append(problems, fmt.Errorf("AUTH_MODE=jwt needs exactly one of JWT_SECRET, JWT_PUBLIC_KEY and JWT_JWKS_URL; %d are set", given))
	}
	for i, key := range c.Secret.Keys() {
		if n := len(key); n < minSecret {
			problems = append(problems, fmt.Errorf("JWT_SECRET, number %d of those between commas, has %d bytes; HS256 needs at least %d", i+1, n, minSecret))
		}
	}
	return errors.Join(append(problems, c.checkIssuer())...)
}

// checkIssuer requires an issuer and an audience where others use the issuer's key, too: an issuer signs for many audiences
// with one key, and some publish the keys of many issuers under one address. An HS256 secret is shared by those who run both
// sides.
func (c Config) checkIssuer() error {
	if c.PublicKey == "" && c.JWKSURL == "" {
		return nil
	}
	key := "JWT_JWKS_URL"
	if c.PublicKey != "" {
		key = "JWT_PUBLIC_KEY"
	}
	var problems []error
	for _, claim := range []struct{ env, value, name, example string }{
		{"JWT_ISSUER", c.Issuer, "iss", "https://login.example.org"}, {"JWT_AUDIENCE", cmp.Or(c.Audience, c.PublicURL), "aud", "hecaton"},
	} {
		if claim.value == "" {
			problems = append(problems, fmt.Errorf("%s needs %s: set it to the %s of your issuer's tokens, such as %s",
				key, claim.env, claim.name, claim.example))
		}
	}
	return errors.Join(problems...)
}
