package netguard_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/netguard"
)

// get asks through the guard and returns the body.
func get(t *testing.T, g *netguard.Guard, address string) (string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer key")
	r.Header.Set("X-Api-Key", "key")
	r.Header.Set("Cookie", "a=key")
	r.Header.Set("Accept", "text/plain")
	response, err := g.Client().Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

// echo answers with the request's headers.
func echo(t *testing.T) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	var hits atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		_ = r.Header.Write(w)
	}))
	t.Cleanup(s.Close)
	return s, &hits
}

// A name that is allowed by its form, and resolves to loopback, is not dialled.
func TestResolvedAddressIsChecked(t *testing.T) {
	t.Parallel()
	s, hits := echo(t)
	byName := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	g := guard(t, netguard.Config{})
	// The form of "localhost" is refused before, so dial it directly: this is what a harmless name that resolves to it meets.
	if err := netguard.Dial(t.Context(), g, strings.TrimPrefix(byName, "http://")); !errors.Is(err, errs.AddressRefused) {
		t.Errorf("a name that resolves to loopback: %v", err)
	}
	for _, address := range []string{s.URL, byName} {
		if _, err := get(t, g, address); !errors.Is(err, errs.AddressRefused) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if hits.Load() != 0 {
		t.Error("it was dialled")
	}
	for name, c := range map[string]netguard.Config{
		"private":      {Private: true},
		"allowed host": {Allow: []string{"localhost"}},
	} {
		if _, err := get(t, guard(t, c), byName); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := get(t, guard(t, netguard.Config{Allow: []string{"127.0.0.0/8"}}), s.URL); err != nil {
		t.Errorf("an allowed network: %v", err)
	}
}

// Names of this machine's own network cannot be told from those that nobody has.
func TestNamesWithinCannotBeTold(t *testing.T) {
	t.Parallel()
	g := guard(t, netguard.Config{})
	within, nowhere := netguard.Dial(t.Context(), g, "localhost:1"), netguard.Dial(t.Context(), g, "nobody.onion:1") // which no resolver asks for
	var a, b *errs.Error
	if !errors.As(within, &a) || !errors.As(nowhere, &b) || a.Reason != b.Reason || a.Message != b.Message || a.Error() != b.Error() {
		t.Errorf("%v; %v", within, nowhere)
	}
}

// An allowed server cannot lead to one that is not.
func TestRedirectsAreChecked(t *testing.T) {
	t.Parallel()
	inner, hits := echo(t)
	var to atomic.Value
	outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to.Load().(string), http.StatusTemporaryRedirect)
	}))
	t.Cleanup(outer.Close)
	g := guard(t, netguard.Config{Allow: []string{"localhost"}})
	entrance := strings.Replace(outer.URL, "127.0.0.1", "localhost", 1)
	for _, target := range []string{inner.URL, "http://169.254.169.254/", "https://[::1]/", "file:///etc/passwd"} {
		to.Store(target)
		if _, err := get(t, g, entrance); !errors.Is(err, errs.AddressRefused) {
			t.Errorf("a redirect to %s: %v", target, err)
		}
	}
	to.Store(entrance)
	if _, err := get(t, g, entrance); !errors.Is(err, errs.AddressRefused) {
		t.Errorf("a circle: %v", err)
	}
	if hits.Load() != 0 {
		t.Error("it was dialled")
	}
}

// Credentials stay with the origin that they are for; another port is another origin.
func TestRedirectsCarryNoCredential(t *testing.T) {
	t.Parallel()
	other, _ := echo(t)
	mux := http.NewServeMux()
	mux.Handle("/away", http.RedirectHandler(other.URL, http.StatusFound))
	mux.Handle("/near", http.RedirectHandler("/here", http.StatusFound))
	mux.HandleFunc("/here", func(w http.ResponseWriter, r *http.Request) { _ = r.Header.Write(w) })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	g := guard(t, netguard.Config{Private: true})
	if got, err := get(t, g, s.URL+"/away"); err != nil || strings.Contains(got, "key") || !strings.Contains(got, "Accept: text/plain") {
		t.Errorf("another origin hears %q, %v", got, err)
	}
	if got, err := get(t, g, s.URL+"/near"); err != nil || strings.Count(got, "key") != 3 {
		t.Errorf("the same origin hears %q, %v", got, err)
	}
}

func TestNoProxy(t *testing.T) {
	proxy, hits := echo(t)
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	s, _ := echo(t)
	// net/http never sends loopback to a proxy, so ask for a name that only the proxy would know.
	g := guard(t, netguard.Config{Private: true})
	if _, err := get(t, g, "http://nowhere.invalid/"); err == nil || hits.Load() != 0 {
		t.Errorf("the environment's proxy was asked: %v", err)
	}
	if _, err := get(t, g, s.URL); err != nil {
		t.Error(err)
	}
}
