package webguard

import (
	"fmt"
	"net/url"
	"strings"
)

// Origins is an allow list of web origins (RFC 6454). An entry is one of
//
//	https://app.example.org          this origin; a port counts, the scheme's own port may be left out
//	https://app.example.org:*        this host on any port
//	https://*.example.org            every host below example.org, not example.org itself
//	chrome-extension://<id>          this extension; moz-extension:// and others likewise
//	chrome-extension://*             every extension, whoever wrote it
//	null                             sandboxed frames and local files: any page can make a frame that has it
//	*                                everything
type Origins struct{ patterns []origin }

// origin is one entry, or the origin of a request. A host of "*.x" stands for all below x, a host or port of "*" for
// all.
type origin struct{ scheme, host, port string }

// anyOrigin is "*", nullOrigin the origin that tells nothing.
var anyOrigin, nullOrigin = origin{"*", "*", "*"}, origin{scheme: "null"}

// ParseOrigins reads an allow list.
func ParseOrigins(entries []string) (Origins, error) {
	var o Origins
	for _, entry := range entries {
		p, ok := parseOrigin(entry)
		if !ok {
			return Origins{}, fmt.Errorf("%q is not an origin, such as https://app.example.org or chrome-extension://<id>", entry)
		}
		o.patterns = append(o.patterns, p)
	}
	return o, nil
}

// Allows reports whether the value of an Origin header is on the list.
func (o Origins) Allows(header string) bool {
	got, ok := parseOrigin(header)
	if !ok || strings.Contains(header, "*") {
		return false
	}
	for _, p := range o.patterns {
		if p.matches(got) {
			return true
		}
	}
	return false
}

func (p origin) matches(got origin) bool {
	switch {
	case p == anyOrigin:
		return true
	case p.scheme != got.scheme:
		return false
	case p.port != got.port && p.port != "*":
		return false
	case p.host == "*":
		return true
	}
	if below, ok := strings.CutPrefix(p.host, "*"); ok { // below is ".example.org"
		return len(got.host) > len(below) && strings.HasSuffix(got.host, below)
	}
	return p.host == got.host
}

// maxOrigin is longer than any origin, in bytes: a name has at most 253.
const maxOrigin = 512

// parseOrigin takes an origin apart. It accepts what browsers send, scheme://host[:port] and null, and the patterns of
// an allow list; a path, a query or a user makes it none.
func parseOrigin(s string) (origin, bool) {
	if len(s) > maxOrigin {
		return origin{}, false
	}
	switch s {
	case "*":
		return anyOrigin, true
	case "null":
		return nullOrigin, true
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || scheme == "" || strings.ContainsAny(rest, "/?#@\\ ") {
		return origin{}, false
	}
	scheme = strings.ToLower(scheme)
	web := scheme == "http" || scheme == "https"
	host, port := splitPort(strings.ToLower(rest))
	if host == "" && scheme != "file" { // Chromium calls a local file's origin file://
		return origin{}, false
	}
	if star := strings.LastIndex(host, "*"); star > 0 || (star == 0 && host != "*" && !strings.HasPrefix(host, "*.")) {
		return origin{}, false
	}
	if web && host == "*" {
		return origin{}, false // a list that means everything shall say so
	}
	// The rest is left to the standard library, which knows what schemes, hosts and ports may be.
	plain := scheme + "://" + strings.TrimPrefix(strings.TrimPrefix(host, "*"), ".")
	if port != "*" {
		plain += ":" + port
	}
	if _, err := url.Parse(plain); err != nil {
		return origin{}, false
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return origin{scheme, host, port}, true
}

// splitPort splits "host:port" and "[::1]:port"; brackets stay.
func splitPort(hostport string) (host, port string) {
	i := strings.LastIndexByte(hostport, ':')
	if i < 0 || strings.HasSuffix(hostport, "]") {
		return hostport, ""
	}
	return hostport[:i], hostport[i+1:]
}

// sameOrigin compares host and port only: behind a proxy that ends TLS, this pod does not see the scheme.
func sameOrigin(header, hostport string) bool {
	got, ok := parseOrigin(header)
	if !ok || (got.scheme != "http" && got.scheme != "https") || strings.Contains(header, "*") {
		return false
	}
	own, ok := parseOrigin(got.scheme + "://" + hostport)
	return ok && own == got
}
