package webguard_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/webguard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// asked is a request as a browser or program would send it to 10.1.2.3:8080; headers are pairs.
func asked(t *testing.T, method, host string, headers ...string) *http.Request {
	t.Helper()
	at := &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 8080}
	r := httptest.NewRequestWithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, at), method, "/api/x", nil)
	r.Host = host
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func guard(t *testing.T, c webguard.Config, trusted bool) *webguard.Guard {
	t.Helper()
	g, err := c.Guard("127.0.0.1:8080", trusted, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func want(t *testing.T, what string, err error, reason errs.Reason) {
	t.Helper()
	if reason == "" && err != nil || reason != "" && !errors.Is(err, reason) {
		t.Errorf("%s: %v, want %q", what, err, reason)
	}
}

const own = "localhost:8080"

// What a name that its owner made resolve to this machine looks like, and what does not.
func TestHostsOfATrustedPort(t *testing.T) {
	t.Parallel()
	g := guard(t, webguard.Config{Hosts: []string{"Box.local", "*.dev.example.org", "10.9.9.9"}, Origins: []string{"https://app.example.org", "http://*.test.example.org", "http://localhost:*"}}, true)
	for _, host := range []string{
		own, "localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8080", "127.8.9.1:80", "[::1]", "[::1]:8080", "[::ffff:127.0.0.1]:1",
		"10.1.2.3:8080", "10.9.9.9", "box.local", "box.local:8080", "a.dev.example.org", "A.b.dev.example.org:1", "app.example.org", "x.test.example.org:9",
	} {
		want(t, host, g.Check(asked(t, http.MethodPost, host)), "")
	}
	for _, host := range []string{
		"", ":8080", "evil.example", "evil.example:8080", "evil.local:8080", "gateway:8080", "box", "box.local.", "localhost.", "localhost.:8080",
		"localhost.evil.example", "x.localhost:8080", "127.0.0.1.evil.example", "127.0.0.1.nip.io:8080", "127.1", "127.1:8080", "127.0.0.01", "0x7f000001", "0x7f.1:8080",
		"2130706433", "0177.0.0.1", "0.0.0.0:8080", "[::]:8080", "10.1.2.4:8080", "192.168.1.5", "[fe80::1]", "[::1", "::1", "[::1]x:80", "[::1%25lo]:80", "[127.0.0.1]",
		"localhost:x", "localhost:80:80", "user@localhost", "localhost/", "localhost\\x", "dev.example.org", ".dev.example.org", "xdev.example.org", "app.example.org.evil.example",
		"*", "*.dev.example.org.evil", "127.0.0.1\x00", "[v1.x]", "localhost, evil.example",
	} {
		want(t, host, g.Check(asked(t, http.MethodPost, host)), errs.HostRefused)
		want(t, host+" forwarded", g.Check(asked(t, http.MethodPost, host, "X-Forwarded-Host", own, "Forwarded", "host="+own)), errs.HostRefused)
	}
}

// Behind an ingress with tokens the names are its own affair, unless they are given.
func TestHostsOfAPortWithTokens(t *testing.T) {
	t.Parallel()
	want(t, "any", guard(t, webguard.Config{}, false).Check(asked(t, http.MethodPost, "any.example")), "")
	named := guard(t, webguard.Config{Hosts: []string{"gateway.example.org"}}, false)
	want(t, "named", named.Check(asked(t, http.MethodPost, "gateway.example.org")), "")
	want(t, "another", named.Check(asked(t, http.MethodPost, "any.example")), errs.HostRefused)
	want(t, "every", guard(t, webguard.Config{Hosts: []string{"*"}}, true).Check(asked(t, http.MethodPost, "any.example")), "")
	listens, err := webguard.Config{}.Guard("box.local:8080", true, nil)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the name that it listens on", listens.Check(asked(t, http.MethodPost, "box.local:8080")), "")
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	for _, trusted := range []bool{true, false} {
		g := guard(t, webguard.Config{Origins: []string{"https://app.example.org"}}, trusted)
		for origin, reason := range map[string]errs.Reason{
			"http://localhost:8080": "", "https://localhost:8080": "", "https://app.example.org": "", webguard.ReferenceExtension: "",
			"http://localhost": errs.OriginRefused, "http://localhost:3000": errs.OriginRefused, "http://127.0.0.1:8080": errs.OriginRefused,
			"http://[::1]:8080": errs.OriginRefused, "null": errs.OriginRefused, "file://": errs.OriginRefused, "": errs.OriginRefused,
			"https://evil.example": errs.OriginRefused, "http://localhost:8080.evil.example": errs.OriginRefused, "http://localhost:8080@evil.example": errs.OriginRefused,
			"chrome-extension://abcdefghijklmnopabcdefghijklmnop": errs.OriginRefused, webguard.ReferenceExtension + "x": errs.OriginRefused,
			"moz-extension://5b5f1f0e-6c1c-4d0b-9f57-3c1f0c6a2b11": errs.OriginRefused, strings.Replace(webguard.ReferenceExtension, "chrome", "moz", 1): errs.OriginRefused,
			"http://app.example.org": errs.OriginRefused, "*": errs.OriginRefused, "http://*:8080": errs.OriginRefused, "ws://localhost:8080": errs.OriginRefused,
		} {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodOptions} {
				want(t, method+" "+origin, g.Check(asked(t, method, own, "Origin", origin, "Sec-Fetch-Site", "same-origin")), reason)
			}
		}
		want(t, "two", g.Check(asked(t, http.MethodPost, own, "Origin", "http://"+own, "Origin", "http://"+own)), errs.OriginRefused)
	}
}

// Where a browser sends no Origin, it says what it does.
func TestRequestsWithoutAnOrigin(t *testing.T) {
	t.Parallel()
	g := guard(t, webguard.Config{}, true)
	for what, tt := range map[string]struct {
		method, site, mode, dest string
		reason                   errs.Reason
	}{
		"a program":                         {http.MethodPost, "", "", "", ""},
		"a program with fetch (undici)":     {http.MethodPost, "", "cors", "", ""},
		"a program on a browser's engine":   {http.MethodPost, "none", "no-cors", "empty", ""},
		"a page of this port":               {http.MethodGet, "same-origin", "cors", "empty", ""},
		"an address that was typed":         {http.MethodGet, "none", "navigate", "document", ""},
		"a link":                            {http.MethodGet, "cross-site", "navigate", "document", ""},
		"a form":                            {http.MethodPost, "cross-site", "navigate", "document", errs.OriginRefused},
		"a frame":                           {http.MethodGet, "cross-site", "navigate", "iframe", errs.OriginRefused},
		"a picture":                         {http.MethodGet, "cross-site", "no-cors", "image", errs.OriginRefused},
		"a script of another local port":    {http.MethodGet, "same-site", "no-cors", "script", errs.OriginRefused},
		"an extension with its permissions": {http.MethodGet, "none", "cors", "empty", errs.OriginRefused},
		"a site that nobody knows":          {http.MethodGet, "elsewhere", "cors", "empty", errs.OriginRefused},
	} {
		want(t, what, g.Check(asked(t, tt.method, own, "Sec-Fetch-Site", tt.site, "Sec-Fetch-Mode", tt.mode, "Sec-Fetch-Dest", tt.dest)), tt.reason)
	}
}

// Who runs the port reads which flag lets a page in, but not as often as the page asks.
func TestRefusalsAreLoggedWithTheFlag(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	g, err := webguard.Config{}.Guard("127.0.0.1:8080", true, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	_ = g.Check(asked(t, http.MethodPost, own, "Origin", "http://localhost:3000"))
	_ = g.Check(asked(t, http.MethodPost, "box.local:8080"))
	for _, hint := range []string{"--origin http://localhost:3000 (ALLOWED_ORIGINS)", "--allow-host box.local (ALLOWED_HOSTS)"} {
		if !strings.Contains(log.String(), hint) {
			t.Errorf("%q is not in %s", hint, log.String())
		}
	}
	log.Reset()
	long := "http://" + strings.Repeat("x", 60_000)
	for range 10_000 {
		_ = g.Check(asked(t, http.MethodPost, own, "Origin", long))
	}
	if log.Len() > 50_000 {
		t.Errorf("%d bytes of log", log.Len())
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	var c webguard.Config
	err := config.Load(&c, config.Sources{Args: []string{"--origin", "https://a.example", "--origin=https://b.example", "--allow-host", "box.local"}})
	if err != nil || len(c.Origins) != 2 || len(c.Hosts) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	for _, bad := range []string{"box:8080", "http://box", "a b", "*x", "a.*.b", "**", "*.", "box/", "x@y", "::g"} {
		if _, err := webguard.ParseHosts([]string{bad}); err == nil {
			t.Errorf("%q was taken for a host", bad)
		}
		if err := (webguard.Config{Hosts: []string{bad}}).Validate(); err == nil || !strings.Contains(err.Error(), "--allow-host") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := (webguard.Config{Origins: []string{"box"}}).Validate(); err == nil || !strings.Contains(err.Error(), "--origin") {
		t.Error(err)
	}
}

// Whatever stands in the Host, only what is on the list or this machine is served.
func FuzzHost(f *testing.F) {
	g, err := webguard.Config{Hosts: []string{"box.local"}}.Guard("127.0.0.1:8080", true, nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, host := range []string{own, "[::1]:80", "127.0.0.1", "box.local", "evil.example", "[::ffff:7f00:1]", "127.1"} {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Host = host
		if g.Check(r) != nil {
			return
		}
		name := strings.ToLower(host)
		if i := strings.LastIndexByte(name, ':'); i >= 0 && !strings.HasSuffix(name, "]") {
			name = name[:i]
		}
		ip := net.ParseIP(strings.Trim(name, "[]"))
		if name != "localhost" && name != "box.local" && (ip == nil || !ip.IsLoopback()) {
			t.Fatalf("%q is served", host)
		}
	})
}
