package auth

import (
	"context"
	"errors"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// maxToken bounds what is parsed at all, in bytes.
const maxToken = 8 << 10

// Verify returns who a token speaks for. Errors are *[Error] of kind [Unauthenticated].
func (a *Authenticator) Verify(ctx context.Context, token string) (Identity, error) {
	if a.mode == Trusted {
		return Identity{}, refuse(Unauthenticated, nil, "no key is configured that could verify a token")
	}
	if strings.HasPrefix(token, FixedPrefix) {
		return a.lookUp(ctx, token)
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
	if id.Grant, err = grantOf(claims, a.full); err != nil {
		return Identity{}, refuse(Unauthenticated, err, "%s", err)
	}
	id.Token, _ = claims["jti"].(string)
	if expires, err := claims.GetExpirationTime(); err == nil && expires != nil {
		id.Expires = expires.Time
	}
	return id, nil
}

// lookUp returns who a token speaks for that its user has made.
func (a *Authenticator) lookUp(ctx context.Context, token string) (Identity, error) {
	if a.book == nil {
		return Identity{}, refuse(Unauthenticated, nil, "tokens that begin with %s are not known here: there is no orchestrator", FixedPrefix)
	}
	return a.book.LookUp(ctx, token)
}

// problemOf tells the client what is wrong with a token without quoting any part of it.
func problemOf(err error) string {
	for _, p := range []struct {
		err     error
		message string
	}{
		{jwt.ErrTokenMalformed, "the token is malformed"},
		{jwt.ErrTokenUnverifiable, "no key that is known here can verify the token"},
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
