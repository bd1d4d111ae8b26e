package testkit

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/transport/embedded"
)

// admission is used by every server of this package: services have the permissions that they have when deployed, and tests,
// which show no credentials, have all.
var admission = embedded.Admission{Passwords: access.RandomPasswords(), Open: true}

// Password is that of a service on every server of this package, for servers that a test starts itself.
func Password(s access.Service) string { return admission.Passwords[s] }

// As returns the URL, or URLs, of a NATS server of this package, or of a proxy in front of one, with a service's
// credentials. URLs that have credentials stay as they are.
func As(s access.Service, natsURL string) string {
	urls := strings.Split(natsURL, ",")
	for i, raw := range urls {
		if u, err := url.Parse(raw); err == nil && u.User == nil {
			u.User = url.UserPassword(string(s), admission.Passwords[s])
			urls[i] = u.String()
		}
	}
	return strings.Join(urls, ",")
}

// URLFor is URL with a service's credentials. The stand-in has no users, and shows nothing of what is not allowed.
func (s *RedisServer) URLFor(service access.Service) string {
	if s.in.source.standIn {
		return s.URL()
	}
	u := url.URL{Scheme: "redis", User: url.UserPassword(string(service), admission.Passwords[service]), Host: s.Addr()}
	return u.String()
}

// checkDenied fails the test where a service of ours tried what package access does not allow it.
func (s *RedisServer) checkDenied() {
	if s.in.source.standIn || s.in.backend == nil {
		return
	}
	c := redis.NewClient(&redis.Options{Addr: s.Addr(), MaxRetries: -1})
	defer c.Close()
	entries, err := c.ACLLog(context.Background(), 100).Result()
	if err != nil {
		return // it was stopped in another way
	}
	for _, e := range entries {
		if slices.Contains(access.Services, access.Service(e.Username)) {
			s.t.Errorf("testkit: Redis did not allow %s of %s: %s", e.Object, e.Username, e.Reason)
		}
	}
}
