package webguard_test

import (
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/security/webguard"
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
		origins, err := webguard.ParseOrigins(tt.list)
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
		if _, err := webguard.ParseOrigins([]string{bad}); err == nil {
			t.Errorf("%q was taken for an origin", bad)
		}
	}
}

func FuzzOrigins(f *testing.F) {
	origins, err := webguard.ParseOrigins([]string{"https://*.example.org", extension})
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
		exact, err := webguard.ParseOrigins([]string{header})
		if err != nil || !exact.Allows(header) {
			t.Fatalf("%q is allowed, but is no origin: %v", header, err)
		}
		if exact.Allows("https://evil.com") {
			t.Fatalf("%q stands for another host", header)
		}
	})
}
