package auth

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// maxToken bounds what is parsed at all, in bytes.
const maxToken = 8 << 10

// Authenticator knows users. It is safe for concurrent use.
type Authenticator struct {
	// static after construction
	mode    Mode
	origins Origins
	verify  verifier
	parser  *jwt.Parser
	remote  *remoteKeys // nil without a JWKS URL
}

// Identity is who is calling.
type Identity struct {
	User ids.UserID
	// Expires is when the proof ends; zero in trusted mode.
	Expires time.Time
	// Claims are all that the token says; nil in trusted mode.
	Claims map[string]any
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
	origins, err := ParseOrigins(cfg.Origins)
	if err != nil {
		return nil, err
	}
	if cfg.Mode == Trusted {
		if len(cfg.Origins) == 0 {
			origins = loopbackOrigins
		}
		return &Authenticator{mode: Trusted, origins: origins}, nil
	}
	a := &Authenticator{mode: JWT, origins: origins}
	switch {
	case cfg.Secret != "":
		a.verify = staticVerifier([]byte(cfg.Secret.Reveal()), "HS256")
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
	if cfg.Audience != "" {
		options = append(options, jwt.WithAudience(cfg.Audience))
	}
	a.parser = jwt.NewParser(options...)
	return a, nil
}

// Mode returns what proves a user here.
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

// Authenticate returns the user of a REST request. In jwt mode that is the subject of its bearer token, and a user_id in
// the query or an X-User-Id header must say the same; in trusted mode it is the user that these name. Errors are *[Error].
func (a *Authenticator) Authenticate(r *http.Request) (Identity, error) {
	named, given, err := namedUser(r)
	if err != nil {
		return Identity{}, err
	}
	if a.mode == Trusted {
		if !given {
			return Identity{}, refuse(BadRequest, nil, "name the user in ?user_id= or in X-User-Id")
		}
		return a.trust(named)
	}
	token, err := bearerHeader(r)
	if err != nil {
		return Identity{}, err
	}
	if token == "" {
		return Identity{}, refuse(Unauthenticated, nil, "an Authorization: Bearer header with a token is required")
	}
	id, err := a.Verify(r.Context(), token)
	if err != nil {
		return Identity{}, err
	}
	if given && named != id.User {
		return Identity{}, refuse(Forbidden, nil, "the user named in the request is not the token's subject")
	}
	return id, nil
}

// Verify returns who a token speaks for. Errors are *[Error] of kind [Unauthenticated].
func (a *Authenticator) Verify(ctx context.Context, token string) (Identity, error) {
	if a.mode == Trusted {
		return Identity{}, refuse(Unauthenticated, nil, "no key is configured that could verify a token")
	}
	if len(token) > maxToken {
		return Identity{}, refuse(Unauthenticated, nil, "the token has %d bytes; at most %d are accepted", len(token), maxToken)
	}
	// A map rather than a struct: encoding/json would take "SUB" for sub.
	claims := jwt.MapClaims{}
	find := a.verify.keyfunc(ctx)
	_, err := a.parser.ParseWithClaims(token, claims, func(t *jwt.Token) (any, error) {
		if _, ok := t.Header["crit"]; ok { // RFC 7515, section 4.1.11: what is not understood must be refused
			return nil, errors.New("the token has critical extensions")
		}
		return find(t)
	})
	if err != nil {
		return Identity{}, refuse(Unauthenticated, err, "%s", problemOf(err))
	}
	subject, err := claims.GetSubject()
	if err == nil {
		err = ids.Check("sub", subject)
	}
	if err != nil {
		return Identity{}, refuse(Unauthenticated, err, "the token has no usable subject")
	}
	id := Identity{User: ids.UserID(subject), Claims: claims}
	if expires, err := claims.GetExpirationTime(); err == nil && expires != nil {
		id.Expires = expires.Time
	}
	return id, nil
}

func (a *Authenticator) trust(user ids.UserID) (Identity, error) {
	if err := ids.Check("user_id", string(user)); err != nil {
		return Identity{}, refuse(BadRequest, err, "%s", err)
	}
	return Identity{User: user}, nil
}

// problemOf tells the client what is wrong with a token in words that hold nothing of it.
func problemOf(err error) string {
	for _, p := range []struct {
		err     error
		message string
	}{
		{jwt.ErrTokenMalformed, "the token is malformed"},
		{jwt.ErrTokenUnverifiable, "the token names a key that is not known here"},
		{jwt.ErrTokenSignatureInvalid, "the token's signature is not valid here"},
		{jwt.ErrTokenRequiredClaimMissing, "the token lacks a required claim"},
		{jwt.ErrTokenExpired, "the token has expired"},
		{jwt.ErrTokenNotValidYet, "the token is not valid yet"},
		{jwt.ErrTokenInvalidAudience, "the token is for another audience"},
		{jwt.ErrTokenInvalidIssuer, "the token is from another issuer"},
	} {
		if errors.Is(err, p.err) {
			return p.message
		}
	}
	return "the token is not valid"
}

// namedUser returns the user that a request names in its query, its header, or both alike.
func namedUser(r *http.Request) (user ids.UserID, given bool, err error) {
	names := append(r.URL.Query()["user_id"], r.Header.Values("X-User-Id")...)
	if len(names) == 0 {
		return "", false, nil
	}
	for _, other := range names[1:] {
		if other != names[0] {
			return "", false, refuse(BadRequest, nil, "user_id in the query and X-User-Id name different users")
		}
	}
	return ids.UserID(names[0]), true, nil
}

// bearerHeader returns the token of the Authorization header, "" where there is no such header.
func bearerHeader(r *http.Request) (string, error) {
	values := r.Header.Values("Authorization")
	if len(values) == 0 {
		return "", nil
	}
	if len(values) > 1 {
		return "", refuse(BadRequest, nil, "there is more than one Authorization header")
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", refuse(Unauthenticated, nil, "the Authorization header is not a bearer token")
	}
	return token, nil
}
