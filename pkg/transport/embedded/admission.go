package embedded

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/hecaton-dev/hecaton/pkg/security/access"
)

// anybody is the user of an open server's clients that show no credentials.
const anybody = "anybody"

// Apply makes the users of a server.
func (a Admission) Apply(o *server.Options) {
	for _, s := range access.Services {
		if password := a.Passwords[s]; password != "" {
			bus := s.Bus()
			o.Users = append(o.Users, &server.User{Username: string(s), Password: password, Permissions: &server.Permissions{
				Publish:   &server.SubjectPermission{Allow: bus.Publish},
				Subscribe: &server.SubjectPermission{Allow: bus.Subscribe},
			}})
		}
	}
	if a.Open {
		o.Users, o.NoAuthUser = append(o.Users, &server.User{Username: anybody}), anybody
	}
}

func withCredentials(scheme string, s access.Service, passwords access.Passwords, addr string) string {
	return (&url.URL{Scheme: scheme, User: url.UserPassword(string(s), passwords[s]), Host: addr}).String()
}

// denials is a server's log, of which only what was not allowed is kept.
type denials struct {
	mu   sync.Mutex
	said []string
}

// deniedKept bounds what is kept.
const deniedKept = 100

func (d *denials) list() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.said)
}

// Errorf implements [server.Logger].
func (d *denials) Errorf(format string, v ...any) {
	if !strings.Contains(format, "Violation") {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.said) < deniedKept {
		d.said = append(d.said, fmt.Sprintf(format, v...))
	}
}

// Noticef implements [server.Logger].
func (d *denials) Noticef(string, ...any) {}

// Warnf implements [server.Logger].
func (d *denials) Warnf(string, ...any) {}

// Fatalf implements [server.Logger].
func (d *denials) Fatalf(string, ...any) {}

// Debugf implements [server.Logger].
func (d *denials) Debugf(string, ...any) {}

// Tracef implements [server.Logger].
func (d *denials) Tracef(string, ...any) {}
