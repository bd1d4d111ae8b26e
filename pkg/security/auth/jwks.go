package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
)

const (
	// jwksEvery is how often keys are fetched again, and so how long a revoked one may live on.
	jwksEvery = 5 * time.Minute
	// jwksAtLeast is the time between two fetches that tokens with unknown keys can cause, and between retries.
	jwksAtLeast = 10 * time.Second
	// jwksTimeout bounds one fetch.
	jwksTimeout = 5 * time.Second
	// jwksBytes bounds the answer of one fetch.
	jwksBytes = 1 << 20
)

// remoteKeys are the keys that an issuer publishes. A fetch that fails, or that brings no key, leaves the last good ones
// in place.
//
// The jwkset library can refresh by itself, but on a goroutine that nobody can wait for, and it takes an empty answer
// for the truth; so it only parses here.
type remoteKeys struct {
	jwkset.Storage // the last good keys; safe for concurrent use

	// static after construction
	url    string
	shown  string // url for logs, without a password
	client *http.Client
	log    *slog.Logger
	pause  time.Duration // jwksAtLeast, but for tests

	fetching chan struct{} // holds one token while a fetch is under way
	tried    time.Time     // when the last fetch began; owned by who holds fetching
	loaded   atomic.Bool   // whether any fetch has succeeded
}

func newRemoteKeys(address string, log *slog.Logger) (*remoteKeys, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("JWT_JWKS_URL: %q is not an http or https URL", address)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true // one request in five minutes
	return &remoteKeys{
		Storage: jwkset.NewMemoryStorage(),
		url:     address, shown: u.Redacted(),
		client: &http.Client{Transport: bounded{transport}, CheckRedirect: sameScheme},
		log:    log, pause: jwksAtLeast,
		fetching: make(chan struct{}, 1),
	}, nil
}

func (k *remoteKeys) verifier() (verifier, error) {
	methods := append([]string{"ES256", "ES384", "ES512", "EdDSA"}, rsaMethods...)
	keys, err := keyfunc.New(keyfunc.Options{Storage: k})
	if err != nil {
		return verifier{}, err
	}
	return verifier{methods, func(ctx context.Context) jwt.Keyfunc {
		find := keys.KeyfuncCtx(ctx)
		return func(token *jwt.Token) (any, error) {
			// Without a kid every key would be tried, also those that the issuer meant for something else.
			if _, ok := token.Header["kid"]; !ok {
				return nil, errors.New("the token has no kid")
			}
			return find(token)
		}
	}}, nil
}

// KeyRead returns the key named kid. For an unknown one the keys are fetched first, at most once in jwksAtLeast however
// many ask.
func (k *remoteKeys) KeyRead(ctx context.Context, kid string) (jwkset.JWK, error) {
	key, err := k.Storage.KeyRead(ctx, kid)
	if !errors.Is(err, jwkset.ErrKeyNotFound) {
		return key, err
	}
	if err := k.refresh(ctx, k.pause); err != nil {
		return jwkset.JWK{}, err
	}
	return k.Storage.KeyRead(ctx, kid)
}

// run keeps the keys fresh until ctx ends.
func (k *remoteKeys) run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		next := jwksEvery
		if err := k.refresh(ctx, 0); err != nil && ctx.Err() == nil {
			k.log.WarnContext(ctx, "the keys of the token issuer cannot be fetched", "url", k.shown, "error", err)
			next = k.pause
		}
		timer.Reset(next)
	}
}

// refresh fetches the keys, unless the last fetch began less than pause ago. Those who come while one is under way wait
// for it.
func (k *remoteKeys) refresh(ctx context.Context, pause time.Duration) error {
	select {
	case k.fetching <- struct{}{}:
		defer func() { <-k.fetching }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if !k.tried.IsZero() && time.Since(k.tried) < pause {
		return nil
	}
	k.tried = time.Now()
	// What is fetched is for all; the first to ask may give up without failing the others.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), jwksTimeout)
	defer cancel()
	fresh, err := jwkset.NewStorageFromHTTP(k.url, jwkset.HTTPClientStorageOptions{
		Ctx: ctx, Client: k.client, HTTPTimeout: jwksTimeout,
	})
	if err != nil {
		return err
	}
	keys, err := fresh.KeyReadAll(ctx)
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		return errors.New("the answer holds no usable key")
	}
	if err := k.Storage.KeyReplaceAll(ctx, keys); err != nil {
		return err
	}
	k.loaded.Store(true)
	return nil
}

// check says whether any token could be verified at all.
func (k *remoteKeys) check(context.Context) error {
	if !k.loaded.Load() {
		return errors.New("the keys of the token issuer have not been fetched yet")
	}
	return nil
}

// bounded cuts answers at jwksBytes.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		res.Body = http.MaxBytesReader(nil, res.Body, jwksBytes)
	}
	return res, err
}

// sameScheme keeps a redirect from turning https into http.
func sameScheme(next *http.Request, before []*http.Request) error {
	if next.URL.Scheme != before[0].URL.Scheme {
		return errors.New("redirected to another scheme")
	}
	if len(before) >= 5 {
		return errors.New("redirected too often")
	}
	return nil
}
