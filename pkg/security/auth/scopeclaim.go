package auth

import (
	"errors"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// scopeClaims are the names under which issuers tell scopes: that of RFC 9068, and that of two large issuers.
var scopeClaims = []string{"scope", "scp"}

var errScopeClaim = errors.New("the token's scopes are neither a text nor a list of texts")

// grantOf reads what a token may do. One without any claim of scopes may do everything; so may one that has one of full, which
// its issuer uses for that.
func grantOf(claims jwt.MapClaims, full []string) (Grant, error) {
	var scopes []string
	given := false
	for _, name := range scopeClaims {
		value, ok := claims[name]
		if !ok {
			continue
		}
		given = true
		list, err := scopesIn(value)
		if err != nil {
			return Grant{}, err
		}
		scopes = append(scopes, list...)
	}
	if !given {
		return Grant{}, nil
	}
	if slices.ContainsFunc(scopes, func(s string) bool { return slices.Contains(full, s) }) {
		scopes = append(scopes, string(Full))
	}
	return NewGrant(scopes), nil
}

func scopesIn(value any) ([]string, error) {
	switch value := value.(type) {
	case string:
		return strings.Fields(value), nil
	case []any:
		var list []string
		for _, entry := range value {
			s, ok := entry.(string)
			if !ok {
				return nil, errScopeClaim
			}
			list = append(list, s)
		}
		return list, nil
	}
	return nil, errScopeClaim
}
