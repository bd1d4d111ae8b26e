package limits

import (
	"cmp"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

// maxAddresses bounds the addresses that are remembered; more are not limited.
const maxAddresses = 1 << 16

// logins are the addresses from which logins failed. Each pod has its own; they are not shared with other pods.
type logins struct {
	rate rate // static after construction

	mu      sync.Mutex
	buckets map[string]*bucket
}

// FailedLogin counts a login that failed. The error is RATE_LIMITED where too many came from the address. Whoever has a good
// token is not asked: behind a load balancer many share one address.
func (l *Limiter) FailedLogin(r *http.Request) error {
	if l == nil || l.logins.rate.none() {
		return nil
	}
	if wait := l.logins.take(address(r), time.Now()); wait > 0 {
		return l.met(failedLogins, int64(l.logins.rate.burst), 0, wait)
	}
	return nil
}

// Refused returns the error for a client whose request was not authenticated: err, or that of FailedLogin.
func (l *Limiter) Refused(r *http.Request, err error) error {
	var who *auth.Error
	if errors.As(err, &who) {
		return cmp.Or(l.FailedLogin(r), err)
	}
	return err
}

// take takes one of an address' failures, and returns how long it takes until there is one.
func (s *logins) take(address string, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.buckets[address]
	if b == nil {
		if len(s.buckets) >= maxAddresses {
			return 0
		}
		first := newBucket(s.rate, now)
		b = &first
		s.buckets[address] = b
	}
	b.fill(s.rate, now)
	if wait := b.has(1, s.rate); wait > 0 {
		return wait
	}
	b.take(1, s.rate)
	return 0
}

// forget drops the addresses whose failures are long ago.
func (s *logins) forget(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for address, b := range s.buckets {
		if b.fill(s.rate, now); b.level >= s.rate.burst {
			delete(s.buckets, address)
		}
	}
}

// address is where a request comes from: of IPv6 the network of 64 bits, which is one site's.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Unmap().Is4() {
		return host
	}
	const site = 64
	network, err := ip.WithZone("").Prefix(site)
	if err != nil {
		return host
	}
	return network.String()
}
