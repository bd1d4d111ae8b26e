package auth_test

import (
	"net/http"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/auth"
)

const extension = "chrome-extension://abcdefghijklmnopabcdefghijklmnop"

func TestOriginPatterns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		list    []string
		allowed []string
		refused []string
	}{
		{
			list:    []string{"https://app.example.org"},
			allowed: []string{"https://app.example.org", "https://app.example.org:443", "HTTPS://App.Example.ORG"},
			refused: []string{
				"http://app.example.org", "https://app.example.org:8443", "https://app.example.org.evil.com", "https://evilapp.example.org",
				"https://example.org", "https://app.example.org/", "https://app.example.org@evil.com", "https://evil.com#https://app.example.org",
				"https://evil.com?https://app.example.org", "https://app.example.org ", "app.example.org", "//app.example.org", "null", "", "*",
				"https://*", "https://app.example.org:*", "https://app.example.org:443:443", "https://app.example.org.",
			},
		},
		{
			list:    []string{"https://*.example.org"},
			allowed: []string{"https://a.example.org", "https://a.b.example.org"},
			refused: []string{
				"https://example.org", "https://aexample.org", "https://.example.org", "https://a.example.org.evil.com", "http://a.example.org",
				"https://a.example.org:444", "https://*.example.org",
			},
		},
		{
			list:    []string{"http://localhost:*", "http://[::1]:8080"},
			allowed: []string{"http://localhost", "http://localhost:3000", "http://[::1]:8080"},
			refused: []string{"http://localhost.evil.com", "http://localhost:x", "http://[::1]:8081", "http://[::1", "http://evil.localhost"},
		},
		{
			list:    []string{extension},
			allowed: []string{extension},
			refused: []string{extension + "x", "chrome-extension://ponmlkjihgfedcbaponmlkjihgfedcba", "moz-extension://abcdefghijklmnopabcdefghijklmnop", "https://abcdefghijklmnopabcdefghijklmnop"},
		},
		{
			list:    []string{"chrome-extension://*"},
			allowed: []string{extension},
			refused: []string{"chrome-extension://", "chrome-extension://*", "moz-extension://x"},
		},
		{list: []string{"null"}, allowed: []string{"null"}, refused: []string{"https://null", "null://"}},
		{list: []string{"file://"}, allowed: []string{"file://"}, refused: []string{"null", "file:///etc"}},
		{list: []string{"*"}, allowed: []string{"null", "https://anyone.example", extension}},
		{refused: []string{"null", "https://anyone.example", extension, "*"}},
	} {
		origins, err := auth.ParseOrigins(tt.list)
		if err != nil {
			t.Fatal(err)
		}
		for _, header := range tt.allowed {
			if !origins.Allows(header) {
				t.Errorf("%q refuses %q", tt.list, header)
			}
		}
		for _, header := range tt.refused {
			if origins.Allows(header) {
				t.Errorf("%q allows %q", tt.list, header)
			}
		}
	}
	for _, bad := range []string{
		"", "example.org", "https://", "https://*", "https://a.*.org", "https://*a.org", "https://a/b", "https://a b", "*://a", "https://a:b",
		"https://u@a", "https://[::1", "1x://a", "://a", "https://*.*.org",
	} {
		if _, err := auth.ParseOrigins([]string{bad}); err == nil {
			t.Errorf("%q was taken for an origin", bad)
		}
	}
}

// origin is a request to host from a page of origin; "" is no header.
func origin(t *testing.T, host, from string) *http.Request {
	t.Helper()
	r := request(t, "/ws/extension")
	r.Host = host
	if from != "" {
		r.Header.Set("Origin", from)
	}
	return r
}

func TestCheckOriginWithJWT(t *testing.T) {
	t.Parallel()
	a := authenticator(t, auth.Config{Secret: secret, Origins: []string{extension, "https://*.example.org"}})
	for from, allowed := range map[string]bool{
		"": true, extension: true, "https://app.example.org": true,
		"https://gateway.test:8443": true,  // this host's own page
		"http://gateway.test:8443":  true,  // seen from behind a proxy that ends TLS
		"https://gateway.test":      false, // another port is another origin
		"https://evil.example":      false, "null": false, "chrome-extension://ponmlkjihgfedcbaponmlkjihgfedcba": false,
		"http://localhost:3000": false, "https://app.example.org.evil.example": false,
	} {
		err := a.CheckOrigin(origin(t, "gateway.test:8443", from))
		if allowed && err != nil {
			t.Errorf("%q: %v", from, err)
		}
		if !allowed {
			wantRefusal(t, err, auth.Forbidden, "")
		}
	}
	twice := origin(t, "gateway.test", extension)
	twice.Header.Add("Origin", "https://evil.example")
	wantRefusal(t, a.CheckOrigin(twice), auth.Forbidden, "")
}

// What a page on the web can try against a cluster on its visitor's own machine.
func TestCheckOriginTrustedOnALaptop(t *testing.T) {
	t.Parallel()
	a := authenticator(t, auth.Config{Mode: auth.Trusted})
	const own = "localhost:8080"
	for name, tt := range map[string]struct {
		host, from string
		allowed    bool
	}{
		"a program":                          {own, "", true},
		"a program, by address":              {"127.0.0.1:8080", "", true},
		"a program, by IPv6 address":         {"[::1]:8080", "", true},
		"a program, by container name":       {"gateway-0:8080", "", true},
		"a program, in Kubernetes":           {"gateway.ns.svc.cluster.local:8080", "", true},
		"a page of this machine":             {own, "http://localhost:3000", true},
		"a page of this machine, by address": {own, "http://127.0.0.1:5173", true},
		"a page of this machine, IPv6":       {own, "http://[::1]:5173", true},
		"a page of this pod":                 {"gateway-0:8080", "http://gateway-0:8080", true},
		"an extension":                       {own, extension, true},
		"an extension of Firefox":            {own, "moz-extension://5b5f1f0e-6c1c-4d0b-9f57-3c1f0c6a2b11", true},
		"a web page":                         {own, "https://evil.example", false},
		"a web page with a port":             {own, "http://evil.example:8080", false},
		"a sandboxed frame":                  {own, "null", false},
		"a local file":                       {own, "file://", false},
		"a name that looks like loopback":    {own, "http://localhost.evil.example", false},
		"an address that looks like it":      {own, "http://127.0.0.1.evil.example", false},
		"a rebound name":                     {"evil.example:8080", "http://evil.example:8080", false},
		"a rebound name, without an origin":  {"evil.example:8080", "", false},
		"a rebound name with a dot":          {"evil.example.:8080", "", false},
		"a rebound name, an extension":       {"evil.example:8080", extension, false},
	} {
		err := a.CheckOrigin(origin(t, tt.host, tt.from))
		if tt.allowed && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !tt.allowed {
			t.Run(name, func(t *testing.T) { wantRefusal(t, err, auth.Forbidden, "") })
		}
	}
}

func TestCheckOriginTrustedWithAList(t *testing.T) {
	t.Parallel()
	a := authenticator(t, auth.Config{Mode: auth.Trusted, Origins: []string{"https://hecaton.example.org", "https://*.dev.example.org"}})
	for _, tt := range []struct {
		host, from string
		allowed    bool
	}{
		{"hecaton.example.org", "https://hecaton.example.org", true},
		{"hecaton.example.org", "", true},
		{"pod.dev.example.org:8080", "", true},
		{"dev.example.org:8080", "", false},
		{"localhost:8080", "http://localhost:3000", false}, // the list replaces the default
		{"localhost:8080", extension, false},
		{"evil.example", "", false},
	} {
		if err := a.CheckOrigin(origin(t, tt.host, tt.from)); (err == nil) != tt.allowed {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	everything := authenticator(t, auth.Config{Mode: auth.Trusted, Origins: []string{"*"}})
	if err := everything.CheckOrigin(origin(t, "any.example", "null")); err != nil {
		t.Error(err)
	}
}

func FuzzOrigins(f *testing.F) {
	origins, err := auth.ParseOrigins([]string{"https://*.example.org", extension})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("https://a.example.org")
	f.Add("https://evil.com\\.example.org")
	f.Fuzz(func(t *testing.T, header string) {
		if !origins.Allows(header) {
			return
		}
		// What is allowed is allowed as an entry too, and then matches itself alone.
		exact, err := auth.ParseOrigins([]string{header})
		if err != nil || !exact.Allows(header) {
			t.Fatalf("%q is allowed, but is no origin: %v", header, err)
		}
		if exact.Allows("https://evil.com") {
			t.Fatalf("%q stands for another host", header)
		}
	})
}
