package obs

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/webguard"
)

// AdminDoor says which requests an admin port accepts:
//
//   - Pages may not. The Host must be an IP address, which probes and scrapers use and no name leads a browser to, or
//     localhost, or one of Hosts; another origin than the port's own is refused.
//   - What changes the pod needs Token, unless it comes from this very machine. Without a Token nothing else can.
//
// A request with the token may use any host name.
type AdminDoor struct {
	Hosts []string      `conf:"admin-host" env:"ADMIN_HOSTS" help:"host name under which the admin port is reached, such as gateway.monitoring.svc; IP addresses and localhost always work; may be given more than once"`
	Token config.Secret `conf:"admin-token" env:"ADMIN_TOKEN" help:"bearer token that drains this pod from another machine, at least 16 bytes; if empty, only this machine can"`
}

// minAdminToken is the length of the shortest token, in bytes: enough that guessing is hopeless.
const minAdminToken = 16

// Validate reports what cannot work.
func (d AdminDoor) Validate() error {
	var problems []error
	if _, err := webguard.ParseHosts(d.Hosts); err != nil {
		problems = append(problems, fmt.Errorf("--admin-host (ADMIN_HOSTS): %w", err))
	}
	if n := len(d.Token); n > 0 && n < minAdminToken {
		problems = append(problems, fmt.Errorf("ADMIN_TOKEN is shorter than %d bytes", minAdminToken))
	}
	return errors.Join(problems...)
}

// adminDoor is an AdminDoor in use.
type adminDoor struct {
	// static after construction
	pages *webguard.Guard
	token [sha256.Size]byte // comparing hashes takes the same time whatever the length of what is shown
	set   bool
}

func (d AdminDoor) open(listen string, log *slog.Logger) (*adminDoor, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	pages, err := webguard.New(webguard.Options{
		Listen: listen, Hosts: d.Hosts, CheckHost: true, Literals: webguard.EveryLiteral,
		HostSetting: webguard.Setting{Flag: "--admin-host", Env: "ADMIN_HOSTS"}, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	return &adminDoor{pages: pages, token: sha256.Sum256([]byte(d.Token.Reveal())), set: d.Token != ""}, nil
}

func (d *adminDoor) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.shown(r) {
			next.ServeHTTP(w, r)
			return
		}
		if err := d.pages.Check(r); err != nil {
			writeJSON(w, http.StatusForbidden, map[string]any{"error": err.Error()})
			return
		}
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		if !reads && !fromHere(r) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="hecaton admin"`)
			writeJSON(w, http.StatusUnauthorized, map[string]any{
				"error": "from another machine this needs Authorization: Bearer with the pod's ADMIN_TOKEN; a pod without one takes it from its own machine only",
			})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// shown reports whether the request brings the token.
func (d *adminDoor) shown(r *http.Request) bool {
	values := r.Header.Values("Authorization")
	if !d.set || len(values) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	got := sha256.Sum256([]byte(token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], d.token[:]) == 1
}

// fromHere reports whether the request was made on this machine: a proxy beside the pod says that it was not.
func fromHere(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}
