package netguard_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/netguard"
)

func guard(t *testing.T, c netguard.Config) *netguard.Guard {
	t.Helper()
	g, err := netguard.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

func TestCheck(t *testing.T) {
	t.Parallel()
	public := guard(t, netguard.Config{})
	private := guard(t, netguard.Config{Private: true})
	for address, why := range map[string]string{
		"https://api.example.com/v1":          "",
		"https://93.184.216.34:8443":          "",
		"https://[2606:4700::1111]/":          "",
		"https://[64:ff9b::5db8:d822]/":       "", // NAT64 of 93.184.216.34
		"http://api.example.com":              "https://",
		"https://127.0.0.1":                   "loopback",
		"https://localhost":                   "loopback",
		"https://LOCALHOST.:8080":             "loopback",
		"https://a.localhost":                 "loopback",
		"https://[::1]":                       "loopback",
		"https://[::ffff:127.0.0.1]":          "loopback",
		"https://[64:ff9b::7f00:1]":           "loopback",
		"https://[::127.0.0.1]":               "reserved",
		"https://[2002:7f00:1::]":             "6to4",
		"https://[2001::7f00:1]":              "reserved",
		"https://10.1.2.3":                    "private",
		"https://172.31.0.1":                  "private",
		"https://192.168.0.1":                 "private",
		"https://[fd00:ec2::254]":             "private",
		"https://169.254.169.254/latest/meta": "link-local",
		"https://[fe80::1%25eth0]":            "link-local",
		"https://168.63.129.16":               "metadata",
		"https://100.100.100.200":             "carrier",
		"https://192.0.0.192":                 "reserved",
		"https://0.0.0.0":                     "unspecified",
		"https://0.1.2.3":                     "unspecified",
		"https://[::]":                        "unspecified",
		"https://224.0.0.1":                   "multicast",
		"https://[ff02::1]":                   "multicast",
		"https://255.255.255.255":             "reserved",
		"https://[fec0::1]":                   "reserved",
		"https://2130706433":                  "neither",
		"https://0x7f000001":                  "neither",
		"https://127.1":                       "neither",
		"https://0177.0.0.1":                  "neither",
		"https://0x7F.0.0.1":                  "neither",
	} {
		err := public.Check(address)
		switch {
		case why == "" && err != nil:
			t.Errorf("%s: %v", address, err)
		case why != "" && (!errors.Is(err, errs.AddressRefused) || !strings.Contains(err.Error(), why)):
			t.Errorf("%s: got %v, want %q", address, err, why)
		}
		cloud := strings.Contains(address, "169.254") || strings.Contains(address, "fe80") || strings.Contains(address, "168.63") ||
			strings.Contains(address, "100.100.100.200") || strings.Contains(address, "192.0.0.192") || strings.Contains(address, "fd00:ec2::254")
		if err := private.Check(address); (err != nil) != cloud {
			t.Errorf("%s where private addresses are allowed: %v", address, err)
		}
	}
	for _, address := range []string{"", "api.example.com", "ftp://api.example.com", "file:///etc/passwd", "https://", "https:///x", "https://a:b@api.example.com", "://", "https://a b"} {
		for _, g := range []*netguard.Guard{public, private} {
			if err := g.Check(address); !errors.Is(err, errs.AddressRefused) {
				t.Errorf("%q: %v", address, err)
			}
		}
	}
}

func TestAllowList(t *testing.T) {
	t.Parallel()
	g := guard(t, netguard.Config{Allow: []string{"10.1.0.0/16", "127.0.0.5", "fd12::/16", "Models.Internal"}})
	for address, want := range map[string]bool{
		"http://10.1.2.3":              true,
		"http://[::ffff:10.1.2.3]":     true,
		"https://10.2.0.1":             false,
		"http://127.0.0.5:8080":        true,
		"http://127.0.0.6":             false,
		"http://[fd12::1]":             true,
		"http://models.internal:8000":  true,
		"http://models.internal.:8000": true,
		"http://x.models.internal":     false,
	} {
		if err := g.Check(address); (err == nil) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, entry := range []string{"", "10.1.0.0/99", "http://host", "host:80", "*.host", "a b"} {
		if (netguard.Config{Allow: []string{entry}}).Validate() == nil {
			t.Errorf("%q is taken for a host", entry)
		}
	}
}

func FuzzCheck(f *testing.F) {
	g, err := netguard.New(netguard.Config{})
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"https://api.example.com", "https://[::1%25a]:1", "https://0x7f.1", "https://[::ffff:1.2.3.4]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		if err := g.Check(address); err != nil && !errors.Is(err, errs.AddressRefused) {
			t.Errorf("%q: %v", address, err)
		}
	})
}
