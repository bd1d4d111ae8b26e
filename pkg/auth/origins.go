package auth

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Origins is an allow list of web origins (RFC 6454). An entry is one of
//
//	https://app.example.org          this origin; a port counts, the scheme's own port may be left out
//	https://app.example.org:*        this host on any port
//	https://*.example.org            every host below example.org, not example.org itself
//	chrome-extension://<id>          this extension; moz-extension:// and others likewise
//	chrome-extension://*             every extension
//	null                             sandboxed frames and local files: any page can make a frame that has it
//	*                                everything
type Origins struct{ patterns []origin }

// origin is one entry, or the origin of a request. A host of "*.x" stands for all below x, a host or port of "*" for
// all.
type origin struct{ scheme, host, port string }

// anyOrigin is "*", nullOrigin the origin that tells nothing.
var anyOrigin, nullOrigin = origin{"*", "*", "*"}, origin{scheme: "null"}

// loopbackOrigins are allowed in trusted mode, unless the configuration says otherwise: pages that this machine serves
// itself, and the extensions of its browsers, which their user installed. Any other page is refused, however it got to
// this port: in trusted mode it could run tools on the user's desktop. So is "null", since any page can put itself into
// a sandboxed frame and have it.
var loopbackOrigins = func() Origins {
	o, err := ParseOrigins([]string{
		"http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*",
		"https://localhost:*", "https://127.0.0.1:*", "https://[::1]:*",
		"chrome-extension://*", "moz-extension://*", "safari-web-extension://*",
	})
	if err != nil {
		panic(err) // the list above is constant, and parsed by every test
	}
	return o
}()

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

// parseOrigin takes an origin apart. It accepts what browsers send, scheme://host[:port] and null, and the patterns of
// an allow list; a path, a query or a user makes it none.
func parseOrigin(s string) (origin, bool) {
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

// CheckOrigin refuses requests that a web page makes without being allowed to; the error is an *[Error] of kind
// [Forbidden]. It allows
//
//   - requests without an Origin header, which do not come from a page, or only read what the page cannot see;
//   - origins on the allow list;
//   - pages that this very host and port served.
//
// Trusted mode has a second line, since there a page needs no credentials, only a way in: a page of evil.example may
// have its name resolve to 127.0.0.1 once it is loaded ("DNS rebinding"); then this pod looks like the host that served
// it. So the Host of every request must be one that no stranger can own: an IP address, a name without dots or of a
// private domain, or the host of an origin on the list.
func (a *Authenticator) CheckOrigin(r *http.Request) error {
	if a.mode == Trusted && !a.ownHost(r.Host) {
		return refuse(Forbidden, nil, "in trusted mode the host %q is not served; list its origin in ALLOWED_ORIGINS", r.Host)
	}
	values := r.Header.Values("Origin")
	switch len(values) {
	case 0:
		return nil
	case 1:
	default:
		return refuse(Forbidden, nil, "there is more than one Origin header")
	}
	if a.origins.Allows(values[0]) || sameOrigin(values[0], r.Host) {
		return nil
	}
	return refuse(Forbidden, nil, "the origin %q is not allowed; list it in ALLOWED_ORIGINS", values[0])
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

// privateDomains have no public names: RFC 6761, RFC 6762, and ICANN's reservation of .internal; Kubernetes serves
// cluster.local.
var privateDomains = []string{".localhost", ".local", ".internal"}

func (a *Authenticator) ownHost(hostport string) bool {
	host, _ := splitPort(strings.ToLower(hostport))
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	if !strings.Contains(host, ".") {
		return true
	}
	for _, domain := range privateDomains {
		if strings.HasSuffix(host, domain) {
			return true
		}
	}
	for _, p := range a.origins.patterns {
		if p == anyOrigin || p.host == host || (strings.HasPrefix(p.host, "*.") && strings.HasSuffix(host, p.host[1:])) {
			return true
		}
	}
	return false
}
