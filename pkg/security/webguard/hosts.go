package webguard

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Hosts are the names under which a port is served. An entry is one of
//
//	gateway.example.org    this host, on any port; an IP address likewise
//	*.example.org          every host below example.org, not example.org itself
//	*                      every host
type Hosts struct {
	names map[string]bool
	below []string // ".example.org"
	every bool
}

// ParseHosts reads a list of hosts.
func ParseHosts(entries []string) (Hosts, error) {
	h := Hosts{names: map[string]bool{}}
	for _, entry := range entries {
		name := strings.ToLower(entry)
		if name == "*" {
			h.every = true
			continue
		}
		bare, wild := strings.CutPrefix(name, "*.")
		ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
		switch {
		case err == nil:
			h.names[ip.Unmap().String()] = true
		case !hostName(bare):
			return Hosts{}, fmt.Errorf("%q is no host, such as gateway.example.org, *.example.org or 10.0.0.1, without a port", entry)
		case wild:
			h.below = append(h.below, "."+bare)
		default:
			h.names[name] = true
		}
	}
	return h, nil
}

// hostName reports whether s may be the name of a host.
func hostName(s string) bool {
	if s == "" || strings.ContainsAny(s, "*:/?#@\\[]% \t") {
		return false
	}
	u, err := url.Parse("http://" + s)
	return err == nil && u.Host == s
}

func (h Hosts) allows(host string) bool {
	if h.every || h.names[host] {
		return true
	}
	for _, below := range h.below {
		if len(host) > len(below) && strings.HasSuffix(host, below) {
			return true
		}
	}
	return false
}

// splitHost takes the Host of a request apart, in lower case: a name, or an IP address as one writes it. Forms that only
// some resolvers take for an address (127.1, 0x7f000001) are names.
func splitHost(hostport string) (name string, ip netip.Addr, ok bool) {
	host, port := splitPort(strings.ToLower(hostport))
	if host == "" || strings.Trim(port, "0123456789") != "" {
		return "", netip.Addr{}, false
	}
	if inner, bracketed := strings.CutPrefix(host, "["); bracketed {
		inner, closed := strings.CutSuffix(inner, "]")
		ip, err := netip.ParseAddr(inner)
		return "", ip.Unmap(), closed && err == nil && ip.Is6() && ip.Zone() == ""
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return host, ip, ip.Is4()
	}
	return host, netip.Addr{}, !strings.Contains(host, ":")
}

// cameTo reports whether ip is the address that the request's connection was made to. No name leads a browser to write it
// into the Host.
func cameTo(r *http.Request, ip netip.Addr) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	at, err := netip.ParseAddrPort(local.String())
	return err == nil && at.Addr().Unmap().WithZone("") == ip
}
