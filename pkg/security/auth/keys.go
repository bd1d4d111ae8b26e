package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
)

// verifier finds the key of a token, and names the algorithms that tokens may use. Both come from the configuration:
// a verifier never learns an algorithm from a token.
type verifier struct {
	methods []string
	keyfunc func(ctx context.Context) jwt.Keyfunc
}

func staticVerifier(key any, methods ...string) verifier {
	return verifier{methods, func(context.Context) jwt.Keyfunc {
		return func(*jwt.Token) (any, error) { return key, nil }
	}}
}

// secretVerifier takes HS256 tokens of any of the secrets: two while they are replaced.
func secretVerifier(secrets config.Secret) verifier {
	var set jwt.VerificationKeySet
	for _, key := range secrets.Keys() {
		set.Keys = append(set.Keys, []byte(key.Reveal()))
	}
	return staticVerifier(set, "HS256")
}

// publicVerifier reads a PEM public key or certificate, given inline or as the path of a file.
func publicVerifier(pemOrPath string) (verifier, error) {
	raw := []byte(pemOrPath)
	if !strings.Contains(pemOrPath, "-----BEGIN") {
		var err error
		if raw, err = os.ReadFile(pemOrPath); err != nil {
			return verifier{}, fmt.Errorf("JWT_PUBLIC_KEY: %w", err)
		}
	}
	key, err := parsePublicKey(raw)
	if err != nil {
		return verifier{}, fmt.Errorf("JWT_PUBLIC_KEY: %w", err)
	}
	methods, err := methodsOf(key)
	if err != nil {
		return verifier{}, fmt.Errorf("JWT_PUBLIC_KEY: %w", err)
	}
	return staticVerifier(key, methods...), nil
}

func parsePublicKey(raw []byte) (any, error) {
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil, errors.New("holds no PEM block")
	}
	switch block.Type {
	case "PUBLIC KEY":
		return x509.ParsePKIXPublicKey(block.Bytes)
	case "RSA PUBLIC KEY":
		return x509.ParsePKCS1PublicKey(block.Bytes)
	case "CERTIFICATE":
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		return cert.PublicKey, nil
	default:
		return nil, fmt.Errorf("holds %q, not a public key or certificate", block.Type)
	}
}

// minRSA is the size of the smallest RSA key (RFC 7518, section 3.3).
const minRSA = 2048

var (
	rsaMethods = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
	ecMethods  = map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}
)

// methodsOf returns the algorithms that a key of this kind may verify.
func methodsOf(key any) ([]string, error) {
	switch key := key.(type) {
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits < minRSA {
			return nil, fmt.Errorf("the RSA key has %d bits; at least %d are needed", bits, minRSA)
		}
		return rsaMethods, nil
	case *ecdsa.PublicKey:
		if method, ok := ecMethods[key.Curve.Params().BitSize]; ok {
			return []string{method}, nil
		}
		return nil, fmt.Errorf("the curve %s has no JWT algorithm", key.Curve.Params().Name)
	case ed25519.PublicKey:
		return []string{"EdDSA"}, nil
	default:
		return nil, fmt.Errorf("a key of type %T has no JWT algorithm", key)
	}
}
