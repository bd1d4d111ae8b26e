package auth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

// Claims are what a token says. Empty ones are left out.
type Claims struct {
	User     ids.UserID // sub
	Issuer   string
	Audience string
	KeyID    string // kid, which JWKS needs
	ID       string // jti
	// Scopes limit what the token allows; nil for all.
	Scopes    []string
	NotBefore time.Time
	Expires   time.Time
}

// Mint signs a token with key: a [config.Secret] for HS256, an *rsa.PrivateKey for RS256, an *ecdsa.PrivateKey for the
// algorithm of its curve, an ed25519.PrivateKey for EdDSA. It serves tests and command lines; an issuer it is not.
func Mint(key any, c Claims) (string, error) {
	method, key, err := signingMethod(key)
	if err != nil {
		return "", err
	}
	claims := jwt.MapClaims{}
	for name, text := range map[string]string{"sub": string(c.User), "iss": c.Issuer, "aud": c.Audience, "jti": c.ID} {
		if text != "" {
			claims[name] = text
		}
	}
	if c.Scopes != nil {
		claims["scope"] = strings.Join(c.Scopes, " ")
	}
	for name, at := range map[string]time.Time{"nbf": c.NotBefore, "exp": c.Expires} {
		if !at.IsZero() {
			claims[name] = at.Unix()
		}
	}
	token := jwt.NewWithClaims(method, claims)
	if c.KeyID != "" {
		token.Header["kid"] = c.KeyID
	}
	return token.SignedString(key)
}

func signingMethod(key any) (jwt.SigningMethod, any, error) {
	switch key := key.(type) {
	case config.Secret:
		return jwt.SigningMethodHS256, []byte(key.Reveal()), nil
	case *rsa.PrivateKey:
		return jwt.SigningMethodRS256, key, nil
	case *ecdsa.PrivateKey:
		methods, err := methodsOf(&key.PublicKey)
		if err != nil {
			return nil, nil, err
		}
		return jwt.GetSigningMethod(methods[0]), key, nil
	case ed25519.PrivateKey:
		return jwt.SigningMethodEdDSA, key, nil
	default:
		return nil, nil, fmt.Errorf("a key of type %T cannot sign a token", key)
	}
}
