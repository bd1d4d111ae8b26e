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

// tokenConfig has the claims of a token and the key that gateways verify it with, named as in the configuration of
// gateways.
type tokenConfig struct {
	User     string        `conf:"user,required" env:"HECATON_USER" help:"whom the token makes its bearer"`
	TTL      time.Duration `conf:"ttl" default:"1h" help:"how long the token is good"`
	Secret   config.Secret `conf:"secret,required" env:"JWT_SECRET" help:"the gateways' key of HS256 tokens, at least 32 bytes"`
	Issuer   string        `conf:"issuer" env:"JWT_ISSUER" help:"iss of the token, where the gateways require one"`
	Audience string        `conf:"audience" env:"JWT_AUDIENCE" help:"aud of the token, where the gateways require one"`
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
	// The gateway's own words about its key.
	if err := (auth.Config{Mode: auth.JWT, Secret: c.Secret}).Validate(); err != nil {
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// mintToken prints a token and nothing else, so that scripts can use the output directly.
func mintToken(_ context.Context, e Env) error {
	var cfg tokenConfig
	if err := e.load("token", &cfg, nil); err != nil {
		return err
	}
	token, err := auth.Mint(cfg.Secret.First(), auth.Claims{
		User: ids.UserID(cfg.User), Issuer: cfg.Issuer, Audience: cfg.Audience, Expires: time.Now().Add(cfg.TTL),
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(e.Stdout, token)
	return err
}
