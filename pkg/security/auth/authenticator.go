package auth

import (
	"context"
	"log/slog"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Authenticator authenticates users. It is safe for concurrent use.
type Authenticator struct {
	// static after construction
	mode   Mode
	verify verifier
	parser *jwt.Parser
	remote *remoteKeys // nil without a JWKS URL
	full   []string    // scopes of the issuer that mean everything
	// resource is the MCP endpoint's URL, where it is configured; servers are those who give tokens for it.
	resource string
	servers  []string
	// audiences are those of tokens for the MCP endpoint.
	audiences []string

	book Book // set before use; nil for none
}

// Identity says who is calling.
type Identity struct {
	User ids.UserID
	// Expires is when the token expires; zero in trusted mode.
	Expires time.Time
	// Claims are all that a JWT says; nil in trusted mode.
	Claims map[string]any
	// Token is the id of the token: its jti, or that of a token that the user has made. Empty where it has none.
	Token string
	// Grant is what the token allows.
	Grant Grant
	// watch is that of a token which can be revoked; nil for others.
	watch func(end func()) (stop func())
}

// Revocable returns an identity whose token can be revoked: watch calls a function when it is, and returns what ends the
// watching.
func (id Identity) Revocable(watch func(end func()) (stop func())) Identity {
	id.watch = watch
	return id
}

// MayBeRevoked reports whether the token can be revoked at all.
func (id Identity) MayBeRevoked() bool { return id.watch != nil }

// OnRevoked calls end, once, as soon as it is known that the token was revoked, possibly before it returns. Call stop when that
// no longer matters.
func (id Identity) OnRevoked(end func()) (stop func()) {
	if id.watch == nil {
		return func() {}
	}
	return id.watch(end)
}

// Grace is how long after its token's end a connection may go on: time to get a new one. It is at least as long as any leeway,
// so that a token which is taken now is not over at once.
const Grace = time.Minute

// Ends returns when a connection that was opened with this proof has to end: [Grace] after the proof expires; zero for
// never.
func (id Identity) Ends() time.Time {
	if id.Expires.IsZero() {
		return time.Time{}
	}
	return id.Expires.Add(Grace)
}

// New returns an Authenticator for cfg, which is validated. It asks nothing of the network: with a JWKS URL, [Authenticator.Run]
// does. A nil logger means discard.
func New(cfg Config, log *slog.Logger) (*Authenticator, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	a := &Authenticator{
		mode: cfg.Mode, full: cfg.FullScopes, resource: cfg.resource(), servers: cfg.servers(), audiences: cfg.audiences(),
	}
	if cfg.Mode == Trusted {
		return a, nil
	}
	a.mode = JWT
	var err error
	switch {
	case cfg.Secret.First() != "":
		a.verify = secretVerifier(cfg.Secret)
	case cfg.PublicKey != "":
		a.verify, err = publicVerifier(cfg.PublicKey)
	default:
		if a.remote, err = newRemoteKeys(cfg.JWKSURL, log); err == nil {
			a.verify, err = a.remote.verifier()
		}
	}
	if err != nil {
		return nil, err
	}
	options := []jwt.ParserOption{
		jwt.WithValidMethods(a.verify.methods), jwt.WithExpirationRequired(), jwt.WithLeeway(cfg.Leeway), jwt.WithStrictDecoding(),
	}
	if cfg.Issuer != "" {
		options = append(options, jwt.WithIssuer(cfg.Issuer))
	}
	if cfg.Audience != "" || cfg.Secret.First() == "" {
		options = append(options, jwt.WithAudience(a.audiences...))
	}
	a.parser = jwt.NewParser(options...)
	return a, nil
}

// Mode returns how users prove who they are.
func (a *Authenticator) Mode() Mode { return a.mode }

// Run keeps the keys of a JWKS URL fresh until ctx ends; without one it returns at once. It fits lifecycle.Group.Go.
func (a *Authenticator) Run(ctx context.Context) error {
	if a.remote == nil {
		return nil
	}
	return a.remote.run(ctx)
}

// Check is a condition of readiness: it fails until tokens can be verified.
func (a *Authenticator) Check(ctx context.Context) error {
	if a.remote == nil {
		return nil
	}
	return a.remote.check(ctx)
}
