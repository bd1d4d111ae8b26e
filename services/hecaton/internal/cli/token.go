package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

// tokenConfig has the claims of a JWT and the key that gateways verify it with, named as in the configuration of gateways; and what
// a token that a gateway keeps is to allow.
type tokenConfig struct {
	User     string        `conf:"user,required" env:"HECATON_USER" help:"whom the token makes its bearer"`
	TTL      time.Duration `conf:"ttl" default:"1h" help:"how long a JWT is good"`
	Secret   config.Secret `conf:"secret" env:"JWT_SECRET" help:"the gateways' key of HS256 tokens, at least 32 bytes"`
	Issuer   string        `conf:"issuer" env:"JWT_ISSUER" help:"iss of a JWT, where the gateways require one"`
	Audience string        `conf:"audience" env:"JWT_AUDIENCE" help:"aud of a JWT, where the gateways require one"`

	Scopes  []string      `conf:"scope" help:"tools:read, tools:call, agent:run, full: makes a token that a gateway keeps, for these only, and that can be revoked"`
	Nodes   []string      `conf:"node" help:"with --scope: the nodes that the token is good for; all where empty"`
	Expires time.Duration `conf:"expires" default:"2160h" help:"with --scope: how long the token is good"`
	Name    string        `conf:"name" help:"with --scope: what the token is for, in the list of tokens"`
	Server  string        `conf:"server" env:"HECATON_SERVER" default:"http://127.0.0.1:8080" help:"a gateway's URL, for tokens that it keeps"`
	Token   config.Secret `conf:"token" env:"HECATON_TOKEN" help:"JWT of the user, which proves to the gateway who asks; one is minted where --secret is given instead"`
}

// Validate reports what no gateway would accept.
func (c tokenConfig) Validate() error {
	var problems []error
	if err := ids.Check("--user", c.User); err != nil {
		problems = append(problems, err)
	}
	if c.TTL < time.Second {
		problems = append(problems, errors.New("--ttl must be at least 1s"))
	}
	if c.Expires < time.Minute {
		problems = append(problems, errors.New("--expires must be at least 1m"))
	}
	if len(c.Nodes) > 0 && len(c.Scopes) == 0 {
		problems = append(problems, errors.New("--node limits what --scope allows: name a scope, such as --scope tools:read,tools:call"))
	}
	if c.Secret != "" { // the gateway's own words about its key
		problems = append(problems, (auth.Config{Mode: auth.JWT, Secret: c.Secret}).Validate())
	}
	return errors.Join(problems...)
}

// token prints a token and nothing else, so that scripts can use the output directly; or what becomes of those that are kept.
func token(ctx context.Context, e Env) error {
	var cfg tokenConfig
	var words []string
	if err := e.load("token", &cfg, &words); err != nil {
		return err
	}
	switch {
	case len(words) == 0 && len(cfg.Scopes) > 0:
		return cfg.create(ctx, e)
	case len(words) == 0:
		return cfg.print(e)
	case len(cfg.Scopes) > 0:
	case words[0] == "list" && len(words) == 1:
		return cfg.list(ctx, e)
	case words[0] == "revoke" && len(words) == 2:
		return cfg.revoke(ctx, e, words[1])
	}
	return usage("%q: give nothing for a new token, list, or revoke and the token's id", words)
}

func (c tokenConfig) print(e Env) error {
	if c.Secret == "" {
		return usage("--secret (JWT_SECRET) is required for a JWT, --scope for a token that a gateway keeps")
	}
	token, err := c.mint(c.TTL)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(e.Stdout, token)
	return err
}

func (c tokenConfig) mint(ttl time.Duration) (string, error) {
	return auth.Mint(c.Secret.First(), auth.Claims{
		User: ids.UserID(c.User), Issuer: c.Issuer, Audience: c.Audience, Expires: time.Now().Add(ttl),
	})
}
