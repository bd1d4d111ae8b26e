package auth_test

import (
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

func TestEveryKindOfKey(t *testing.T) {
	t.Parallel()
	ed, p256, p384, p521 := edKey(t), ecKey(t, elliptic.P256()), ecKey(t, elliptic.P384()), ecKey(t, elliptic.P521())
	path := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(path, []byte(pemOf(t, ed.Public())), 0o600); err != nil {
		t.Fatal(err)
	}
	pkcs1 := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&rsaKey().PublicKey)}))
	cert := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: selfSigned(t, p256)}))
	for name, tt := range map[string]struct {
		key any
		cfg auth.Config
	}{
		"HS256":       {secret, auth.Config{Secret: secret}},
		"RS256":       {rsaKey(), auth.Config{PublicKey: pemOf(t, &rsaKey().PublicKey)}},
		"PKCS1":       {rsaKey(), auth.Config{PublicKey: pkcs1}},
		"ES256":       {p256, auth.Config{PublicKey: pemOf(t, p256.Public())}},
		"ES384":       {p384, auth.Config{PublicKey: pemOf(t, p384.Public())}},
		"ES512":       {p521, auth.Config{PublicKey: pemOf(t, p521.Public())}},
		"certificate": {p256, auth.Config{PublicKey: cert}},
		"EdDSA":       {ed, auth.Config{PublicKey: pemOf(t, ed.Public())}},
		"file":        {ed, auth.Config{PublicKey: path}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.cfg.Issuer, tt.cfg.Audience = issuer, audience
			a := authenticator(t, tt.cfg)
			claims := good()
			id, err := a.Verify(t.Context(), mint(t, tt.key, claims))
			if err != nil || id.User != "alice" || id.Expires.Unix() != claims.Expires.Unix() || id.Claims["iss"] != issuer {
				t.Errorf("identity %+v, error %v", id, err)
			}
			token := mint(t, tt.key, good())
			forged := token[:len(token)-8] + strings.Repeat("A", 8)
			_, err = a.Verify(t.Context(), forged)
			wantRefusal(t, err, auth.Unauthenticated, forged)
		})
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	a := authenticator(t, auth.Config{Secret: secret, Issuer: issuer, Audience: audience, Leeway: 10 * time.Second})
	now := time.Now()
	for name, tt := range map[string]struct {
		change func(*auth.Claims)
		says   string // "" where the token is good
	}{
		"good":                {func(*auth.Claims) {}, ""},
		"expired":             {func(c *auth.Claims) { c.Expires = now.Add(-time.Minute) }, "has expired"},
		"within the leeway":   {func(c *auth.Claims) { c.Expires = now.Add(-5 * time.Second) }, ""},
		"no exp":              {func(c *auth.Claims) { c.Expires = time.Time{} }, "required claim"},
		"not yet valid":       {func(c *auth.Claims) { c.NotBefore = now.Add(time.Minute) }, "not valid yet"},
		"valid since":         {func(c *auth.Claims) { c.NotBefore = now.Add(-time.Minute) }, ""},
		"another audience":    {func(c *auth.Claims) { c.Audience = "other" }, "another audience"},
		"no audience":         {func(c *auth.Claims) { c.Audience = "" }, "required claim"},
		"another issuer":      {func(c *auth.Claims) { c.Issuer = "https://evil.example" }, "another issuer"},
		"no issuer":           {func(c *auth.Claims) { c.Issuer = "" }, "required claim"},
		"no subject":          {func(c *auth.Claims) { c.User = "" }, "no usable subject"},
		"a hostile subject":   {func(c *auth.Claims) { c.User = "a\nb" }, "no usable subject"},
		"a very long name":    {func(c *auth.Claims) { c.User = ids.UserID(strings.Repeat("u", 257)) }, "no usable subject"},
		"a very long token":   {func(c *auth.Claims) { c.KeyID = strings.Repeat("k", 8<<10) }, "at most 8192"},
		"an id with spaces":   {func(c *auth.Claims) { c.User = " a.*> " }, ""},
		"an id in any script": {func(c *auth.Claims) { c.User = "百臂" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			claims := good()
			tt.change(&claims)
			token := mint(t, secret, claims)
			id, err := a.Verify(t.Context(), token)
			if tt.says == "" {
				if err != nil || id.User != claims.User {
					t.Errorf("user %q, error %v", id.User, err)
				}
				return
			}
			wantRefusal(t, err, auth.Unauthenticated, token)
			if err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("the refusal does not say %q: %v", tt.says, err)
			}
			if id.User != "" || id.Claims != nil {
				t.Errorf("a refusal comes with the identity %+v", id)
			}
		})
	}
}

// A signature has one spelling: bits that base64 does not use must be zero.
func TestTokensAreNotMalleable(t *testing.T) {
	t.Parallel()
	a := authenticator(t, auth.Config{Secret: secret})
	token := mint(t, secret, good())
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, token[len(token)-1])
	again := token[:len(token)-1] + string(alphabet[last^1])
	_, err := a.Verify(t.Context(), again)
	wantRefusal(t, err, auth.Unauthenticated, again)
}

func TestIssuerAndAudienceAreOptional(t *testing.T) {
	t.Parallel()
	a := authenticator(t, auth.Config{Secret: secret})
	if _, err := a.Verify(t.Context(), mint(t, secret, auth.Claims{User: "a", Expires: time.Now().Add(time.Minute)})); err != nil {
		t.Error(err)
	}
}

// raw signs any header and claims with method, also those that Mint would not make.
func raw(t *testing.T, method jwt.SigningMethod, key any, header map[string]any, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	for name, value := range header {
		token.Header[name] = value
	}
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func goodMap() jwt.MapClaims {
	return jwt.MapClaims{"sub": "alice", "iss": issuer, "aud": audience, "exp": time.Now().Add(time.Hour).Unix()}
}

// The configured key decides on the algorithm; whatever else a token claims is refused.
func TestAlgorithmConfusion(t *testing.T) {
	t.Parallel()
	rsaPEM := pemOf(t, &rsaKey().PublicKey)
	p256 := ecKey(t, elliptic.P256())
	publicDER, err := x509.MarshalPKIXPublicKey(&rsaKey().PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	unsigned := raw(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, nil, goodMap())
	byKind := map[string]auth.Config{
		"secret": {Secret: secret}, "RSA": {PublicKey: rsaPEM, Issuer: issuer, Audience: audience},
		"EC":                     {PublicKey: pemOf(t, p256.Public()), Issuer: issuer, Audience: audience},
		"public key as a secret": {Secret: config.Secret(rsaPEM)},
	}
	tokens := map[string]string{
		"HS256 with the RSA PEM":           raw(t, jwt.SigningMethodHS256, []byte(rsaPEM), nil, goodMap()),
		"HS256 with the RSA PEM, trimmed":  raw(t, jwt.SigningMethodHS256, []byte(strings.TrimSpace(rsaPEM)), nil, goodMap()),
		"HS256 with the RSA DER":           raw(t, jwt.SigningMethodHS256, publicDER, nil, goodMap()),
		"HS256 with an empty key":          raw(t, jwt.SigningMethodHS256, []byte{}, nil, goodMap()),
		"HS512 with the secret":            raw(t, jwt.SigningMethodHS512, []byte(secret), nil, goodMap()),
		"none":                             unsigned,
		"None":                             swapAlg(t, unsigned, "None"),
		"none with a signature":            unsigned + "AAAA",
		"HS256 without a signature":        strings.TrimSuffix(swapAlg(t, unsigned, "HS256"), "."),
		"RS256 that says HS256":            swapAlg(t, mint(t, rsaKey(), good()), "HS256"),
		"RS256 of another key":             mint(t, otherRSA(t), good()),
		"ES256 of another key":             mint(t, ecKey(t, elliptic.P256()), good()),
		"ES384 where the curve is P-256":   mint(t, ecKey(t, elliptic.P384()), good()),
		"EdDSA":                            mint(t, edKey(t), good()),
		"a key in the header":              raw(t, jwt.SigningMethodEdDSA, edKey(t), map[string]any{"jwk": map[string]any{"kty": "OKP"}, "jku": "http://127.0.0.1:1/"}, goodMap()),
		"critical extensions":              raw(t, jwt.SigningMethodHS256, []byte(secret), map[string]any{"crit": []string{"b64"}, "b64": false}, goodMap()),
		"critical extensions, RSA":         raw(t, jwt.SigningMethodRS256, rsaKey(), map[string]any{"crit": []string{"exp"}}, goodMap()),
		"nothing":                          "",
		"one part":                         "abcd",
		"five parts":                       "aaaa.bbbb.cccc.dddd.eeee",
		"padding":                          mint(t, secret, good()) + "=",
		"blanks":                           " " + mint(t, secret, good()),
		"broken JSON":                      base64.RawURLEncoding.EncodeToString([]byte(`{"alg":`)) + ".e30.AAAA",
		"a subject that is no string":      raw(t, jwt.SigningMethodHS256, []byte(secret), nil, jwt.MapClaims{"sub": 7, "exp": time.Now().Add(time.Hour).Unix()}),
		"an expiry that is no number":      raw(t, jwt.SigningMethodHS256, []byte(secret), nil, jwt.MapClaims{"sub": "a", "exp": "tomorrow"}),
		"a subject under another spelling": raw(t, jwt.SigningMethodHS256, []byte(secret), nil, jwt.MapClaims{"SUB": "a", "exp": time.Now().Add(time.Hour).Unix()}),
	}
	for kind, cfg := range byKind {
		a := authenticator(t, cfg)
		for name, token := range tokens {
			if kind == "public key as a secret" && strings.HasPrefix(name, "HS256 with the RSA PEM") {
				continue // then it is the secret, of which blanks around it are no part
			}
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				_, err := a.Verify(t.Context(), token)
				wantRefusal(t, err, auth.Unauthenticated, token)
			})
		}
	}
}

func otherRSA(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// swapAlg changes the algorithm in the header of a token and leaves its signature.
func swapAlg(t *testing.T, token, alg string) string {
	t.Helper()
	head, rest, _ := strings.Cut(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(head)
	if err != nil {
		t.Fatal(err)
	}
	var header map[string]any
	if err := json.Unmarshal(text, &header); err != nil {
		t.Fatal(err)
	}
	header["alg"] = alg
	if text, err = json.Marshal(header); err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(text) + "." + rest
}

func TestConfig(t *testing.T) {
	t.Parallel()
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(rsaKey())
	if err != nil {
		t.Fatal(err)
	}
	private := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	for name, tt := range map[string]struct {
		cfg  auth.Config
		says string
	}{
		"no key":           {auth.Config{}, "exactly one of JWT_SECRET, JWT_PUBLIC_KEY and JWT_JWKS_URL; 0 are set"},
		"two keys":         {auth.Config{Secret: secret, JWKSURL: "https://x"}, "2 are set"},
		"a short secret":   {auth.Config{Secret: "hunter2"}, "has 7 bytes; HS256 needs at least 32"},
		"a short second":   {auth.Config{Secret: secret + ",hunter2"}, "number 2 of those between commas, has 7 bytes"},
		"only commas":      {auth.Config{Secret: " , "}, "0 are set"},
		"a small RSA key":  {auth.Config{PublicKey: pemOf(t, &small.PublicKey)}, "1024 bits; at least 2048"},
		"a curve without":  {auth.Config{PublicKey: pemOf(t, ecKey(t, elliptic.P224()).Public())}, "P-224 has no JWT algorithm"},
		"a private key":    {auth.Config{PublicKey: private}, `holds "PRIVATE KEY", not a public key`},
		"a missing file":   {auth.Config{PublicKey: "/does/not/exist"}, "no such file"},
		"broken PEM":       {auth.Config{PublicKey: "-----BEGIN PUBLIC KEY-----\nx"}, "no PEM block"},
		"a URL of no kind": {auth.Config{JWKSURL: "ftp://x/keys"}, "not an http or https URL"},
		"no URL":           {auth.Config{JWKSURL: "keys"}, "not an http or https URL"},
		"a wide leeway":    {auth.Config{Secret: secret, Leeway: time.Hour}, "JWT_LEEWAY"},
	} {
		if name != "two keys" && (tt.cfg.PublicKey != "" || tt.cfg.JWKSURL != "") {
			tt.cfg.Issuer, tt.cfg.Audience = issuer, audience
		}
		if _, err := auth.New(tt.cfg, nil); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want %q", name, err, tt.says)
		}
	}
}

// Whose key others use, too, needs to be told which tokens are for here; the message says what to set.
func TestPublishedKeysNeedAnIssuerAndAnAudience(t *testing.T) {
	t.Parallel()
	rsaPEM := pemOf(t, &rsaKey().PublicKey)
	for name, tt := range map[string]struct {
		cfg  auth.Config
		says []string // none where it is complete
	}{
		"a public key alone":       {auth.Config{PublicKey: rsaPEM}, []string{"JWT_PUBLIC_KEY needs JWT_ISSUER: set it", "JWT_PUBLIC_KEY needs JWT_AUDIENCE: set it"}},
		"JWKS alone":               {auth.Config{JWKSURL: "https://x"}, []string{"JWT_JWKS_URL needs JWT_ISSUER: set it", "JWT_JWKS_URL needs JWT_AUDIENCE: set it"}},
		"without an audience":      {auth.Config{JWKSURL: "https://x", Issuer: issuer}, []string{"JWT_JWKS_URL needs JWT_AUDIENCE"}},
		"without an issuer":        {auth.Config{PublicKey: rsaPEM, Audience: audience}, []string{"JWT_PUBLIC_KEY needs JWT_ISSUER"}},
		"both":                     {auth.Config{PublicKey: rsaPEM, Issuer: issuer, Audience: audience}, nil},
		"a secret is of both ends": {auth.Config{Secret: secret}, nil},
	} {
		_, err := auth.New(tt.cfg, nil)
		if (err == nil) != (tt.says == nil) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, say := range tt.says {
			if !strings.Contains(err.Error(), say) {
				t.Errorf("%s: %v, want %q", name, err, say)
			}
		}
	}
}

// While a secret is replaced tokens of either are taken, and of no third.
func TestTwoSecretsAtATime(t *testing.T) {
	t.Parallel()
	fresh := config.Secret(strings.Repeat("n", 32))
	a := authenticator(t, auth.Config{Secret: secret + ", " + fresh})
	for _, key := range []config.Secret{secret, fresh} {
		if id, err := a.Verify(t.Context(), mint(t, key, good())); err != nil || id.User != "alice" {
			t.Errorf("%v, %v", id, err)
		}
	}
	for _, key := range []config.Secret{secret + ", " + fresh, config.Secret(strings.Repeat("x", 32)), ""} {
		token := raw(t, jwt.SigningMethodHS256, []byte(key.Reveal()), nil, goodMap())
		_, err := a.Verify(t.Context(), token)
		wantRefusal(t, err, auth.Unauthenticated, token)
	}
}

func TestConfigFromEnvironment(t *testing.T) {
	t.Parallel()
	var c auth.Config
	err := config.Load(&c, config.Sources{Environ: []string{
		"AUTH_MODE=jwt", "JWT_SECRET=" + secret.Reveal(),
	}})
	if err != nil || c.Leeway != 10*time.Second {
		t.Errorf("%+v, %v", c, err)
	}
	if err := config.Load(new(auth.Config), config.Sources{Environ: []string{"AUTH_MODE=off"}}); err == nil {
		t.Error("an unknown mode was accepted")
	}
	if err := config.Load(new(auth.Config), config.Sources{}); err == nil {
		t.Error("jwt without a key was accepted")
	}
}

func TestMintNeedsAKeyThatSigns(t *testing.T) {
	t.Parallel()
	for _, key := range []any{nil, "text", &rsaKey().PublicKey, ecKey(t, elliptic.P224())} {
		if _, err := auth.Mint(key, good()); err == nil {
			t.Errorf("a key of type %T signed a token", key)
		}
	}
}

func FuzzVerify(f *testing.F) {
	a, err := auth.New(auth.Config{Secret: secret}, nil)
	if err != nil {
		f.Fatal(err)
	}
	token, err := auth.Mint(secret, auth.Claims{User: "alice", Expires: time.Now().Add(24 * time.Hour)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(token)
	f.Add("a.b.c")
	f.Fuzz(func(t *testing.T, text string) {
		if id, err := a.Verify(t.Context(), text); err == nil && text != token {
			t.Errorf("%q was accepted for %q", text, id.User)
		}
	})
}
