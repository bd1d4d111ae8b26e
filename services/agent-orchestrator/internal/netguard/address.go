package netguard

import (
	"net/netip"
	"slices"
	"strings"
)

// reserved are the ranges without public unicast addresses, beside those that netip knows by itself (IANA's special-purpose
// registries), and one public address that belongs to a cloud.
var reserved = []struct {
	prefix netip.Prefix
	name   string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "an unspecified"},
	{netip.MustParsePrefix("100.64.0.0/10"), "a carrier's private"},
	{netip.MustParsePrefix("168.63.129.16/32"), "a cloud's metadata"},
	{netip.MustParsePrefix("192.0.0.0/24"), "a reserved"},
	{netip.MustParsePrefix("192.0.2.0/24"), "a documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a reserved"},
	{netip.MustParsePrefix("198.18.0.0/15"), "a benchmark"},
	{netip.MustParsePrefix("198.51.100.0/24"), "a documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "a documentation"},
	{netip.MustParsePrefix("240.0.0.0/4"), "a reserved"},
	{netip.MustParsePrefix("2001::/23"), "a reserved"}, // Teredo among them, which hides an IPv4 address
	{netip.MustParsePrefix("2001:db8::/32"), "a documentation"},
	{netip.MustParsePrefix("2002::/16"), "a 6to4"}, // hides an IPv4 address
	{netip.MustParsePrefix("3fff::/20"), "a documentation"},
}

var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	global = netip.MustParsePrefix("2000::/3") // all IPv6 addresses that are assigned so far
)

// clouds are the addresses, beside link-local ones, at which clouds give a machine its keys.
var clouds = []netip.Addr{
	netip.MustParseAddr("168.63.129.16"), netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("192.0.0.192"), netip.MustParseAddr("fd00:ec2::254"),
}

// reached is the address that is reached by dialling ip: an IPv4 one may be written as an IPv6 one.
func reached(ip netip.Addr) netip.Addr {
	ip = ip.Unmap().WithZone("")
	if nat64.Contains(ip) { // a host without IPv4 dials it to reach an IPv4 address
		b := ip.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return ip
}

// isMetadata reports whether ip is an address at which a cloud gives out the machine's keys. No server of a user has such an
// address.
func isMetadata(ip netip.Addr) bool {
	ip = reached(ip)
	return ip.IsLinkLocalUnicast() || slices.Contains(clouds, ip)
}

// notPublic names the kind of an address that is not a public unicast one: "a private"; "" for one that is.
func notPublic(ip netip.Addr) string {
	ip = reached(ip)
	switch {
	case !ip.IsValid(), ip.IsUnspecified():
		return "an unspecified"
	case ip.IsLoopback():
		return "a loopback"
	case ip.IsPrivate():
		return "a private"
	case ip.IsLinkLocalUnicast():
		return "a link-local"
	case ip.IsMulticast():
		return "a multicast"
	}
	for _, r := range reserved {
		if r.prefix.Contains(ip) {
			return r.name
		}
	}
	if ip.Is6() && !global.Contains(ip) {
		return "a reserved"
	}
	return ""
}

// odd reports whether a host that is no IP address would be taken for one by some resolvers: 2130706433, 0x7f.1, 127.1.
// No name ends with a number (RFC 3696, 2).
func odd(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" {
		return true
	}
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}
