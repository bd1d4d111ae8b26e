package netguard

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// Config says which addresses users may give.
type Config struct {
	Private bool     `conf:"private" env:"PRIVATE" help:"let users give http, private and loopback addresses, though none of a cloud's metadata: for a cluster of one person"`
	Allow   []string `conf:"allow" env:"ALLOW" help:"hosts, IP addresses and networks (10.1.0.0/16) that users may give although they are private or http"`
}

// Validate reports entries that are not valid.
func (c Config) Validate() error {
	_, _, err := c.parse()
	return err
}

func (c Config) parse() (hosts map[string]bool, nets []netip.Prefix, err error) {
	hosts = map[string]bool{}
	var problems []error
	for _, entry := range c.Allow {
		if p, err := netip.ParsePrefix(entry); err == nil {
			nets = append(nets, p.Masked())
		} else if ip, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil {
			nets = append(nets, netip.PrefixFrom(ip, ip.BitLen()))
		} else if entry == "" || strings.ContainsAny(entry, "/:@*? ") {
			problems = append(problems, fmt.Errorf("allowed address %q is not a host, IP address or network", entry))
		} else {
			hosts[canonical(entry)] = true
		}
	}
	return hosts, nets, errors.Join(problems...)
}

// Guard sends all requests to addresses that users gave. It is safe for concurrent use.
type Guard struct {
	// static after construction
	private   bool
	hosts     map[string]bool // canonical
	nets      []netip.Prefix
	transport *http.Transport
}

// New returns a Guard. Close it.
func New(c Config) (*Guard, error) {
	hosts, nets, err := c.parse()
	if err != nil {
		return nil, err
	}
	g := &Guard{private: c.Private, hosts: hosts, nets: nets}
	g.transport = g.newTransport()
	return g, nil
}

// Close closes idle connections.
func (g *Guard) Close() { g.transport.CloseIdleConnections() }

// Check refuses, with [errs.AddressRefused], an address that is not allowed as it is written: one that is not the URL of a
// host over https, or whose host is not public. What a name resolves to is checked when it is dialled.
func (g *Guard) Check(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errs.New(errs.AddressRefused, "the address is not a URL; write https://host/path")
	}
	return g.check(u)
}

func (g *Guard) check(u *url.URL) error {
	host := canonical(u.Hostname())
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return errs.New(errs.AddressRefused, "the address must begin with https://")
	case host == "":
		return errs.New(errs.AddressRefused, "the address names no host")
	case u.User != nil:
		return errs.New(errs.AddressRefused, "the address holds a user name or password; give them as a key or header")
	case g.hosts[host]:
		return nil
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case err == nil && g.allowed(ip):
		return nil
	case g.private && err == nil && isMetadata(ip):
		return errs.New(errs.AddressRefused, "%s is where clouds keep a machine's keys, which this server does not call", host)
	case g.private:
		return nil
	case err == nil && notPublic(ip) != "":
		return errs.New(errs.AddressRefused, "%s is %s address, which this server does not call", host, notPublic(ip))
	case err != nil && odd(host):
		return errs.New(errs.AddressRefused, "%s is neither a name nor an IP address in its usual form", host)
	case host == "localhost" || strings.HasSuffix(host, ".localhost"):
		return errs.New(errs.AddressRefused, "%s is a loopback address, which this server does not call", host)
	case u.Scheme != "https":
		return errs.New(errs.AddressRefused, "the address must begin with https://: what is sent holds keys")
	}
	return nil
}

// allowed reports whether the operator's list names an IP address.
func (g *Guard) allowed(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	for _, n := range g.nets {
		if n.Contains(ip) {
			return true
		}
	}
	return false
}

// canonical is a host in the form in which hosts are compared: lower case, without the root's dot.
func canonical(host string) string {
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
