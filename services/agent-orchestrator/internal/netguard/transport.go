package netguard

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

const (
	connectTimeout = 10 * time.Second
	idleTimeout    = 90 * time.Second
	maxRedirects   = 5
)

// Client returns a client for addresses that users gave. It sets no timeout: the requests' contexts do. What it refuses is
// [errs.AddressRefused] somewhere in the error's chain.
func (g *Guard) Client() *http.Client {
	return &http.Client{Transport: g, CheckRedirect: redirect}
}

// RoundTrip sends one request, to allowed addresses only.
func (g *Guard) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := g.check(r.URL); err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // a RoundTripper's duty
		}
		return nil, err
	}
	return g.transport.RoundTrip(r)
}

func (g *Guard) newTransport() *http.Transport {
	free := &net.Dialer{Timeout: connectTimeout}
	checked := &net.Dialer{Timeout: connectTimeout, Control: g.control}
	return &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if host, _, err := net.SplitHostPort(address); err == nil && g.hosts[canonical(host)] {
				return free.DialContext(ctx, network, address)
			}
			conn, err := checked.DialContext(ctx, network, address)
			return conn, oneAnswer(err)
		},
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: connectTimeout,
		IdleConnTimeout:     idleTimeout,
		MaxIdleConnsPerHost: 16,
	}
}

// oneAnswer returns the same error for a name that resolves to an address that is not public and for a name that does not
// exist: otherwise a user could find out which names exist inside the cluster.
func oneAnswer(err error) error {
	var unknown *net.DNSError
	var without *net.AddrError // a name that has no addresses
	if errors.Is(err, errs.AddressRefused) || errors.As(err, &without) || errors.As(err, &unknown) && unknown.IsNotFound {
		return &errs.Error{Reason: errs.AddressRefused, Message: "the host has no public address, which is all that this server calls", Err: err}
	}
	return err
}

// control checks each address right before it is dialled, after the name was resolved.
func (g *Guard) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return errs.New(errs.AddressRefused, "not an IP address")
	}
	kind := notPublic(to.Addr())
	if g.private && isMetadata(to.Addr()) {
		kind = "a cloud's metadata"
	} else if g.private {
		return nil
	}
	if kind != "" && !g.allowed(to.Addr()) {
		return errs.New(errs.AddressRefused, "the host has %s address, which this server does not call", kind)
	}
	return nil
}

// redirect removes everything that may be a credential if a redirect leads to another origin. net/http keeps Authorization
// for subdomains and other ports, and always keeps keys in headers of other names.
func redirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return errs.New(errs.AddressRefused, "more than %d redirects", maxRedirects)
	}
	if SameOrigin(r.URL, via[0].URL) {
		return nil
	}
	for name := range r.Header {
		switch name {
		case "Accept", "Content-Type", "User-Agent":
		default:
			r.Header.Del(name)
		}
	}
	return nil
}

// SameOrigin reports whether two URLs have scheme, host and port in common.
func SameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && canonical(a.Hostname()) == canonical(b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
