package webguard

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// Literals says which IP addresses may stand in the Host where hosts are checked, beside loopback and those on the list.
type Literals int

const (
	// OwnLiteral is the address that the connection was made to.
	OwnLiteral Literals = iota
	// EveryLiteral is for ports that are reached through translated addresses. A page under an IP address was served by that
	// very address, so it is not a foreign page.
	EveryLiteral
)

// Options of a [Guard].
type Options struct {
	// Origins may call, beside the port's own.
	Origins []string
	// Listen is the port's address, whose host, where it is a name, is one of its own.
	Listen string
	// Hosts are the other names under which the port is served.
	Hosts []string
	// CheckHost refuses other hosts than those two, localhost, loopback addresses and Literals. Hosts are checked too
	// wherever there are any.
	CheckHost bool
	Literals  Literals
	// OriginSetting and HostSetting are what a refusal says would let the request in.
	OriginSetting, HostSetting Setting
	Logger                     *slog.Logger // nil means discard
}

// Setting names the flag with which an operator can allow more. The zero Setting names none.
type Setting struct{ Flag, Env string }

// remedy tells people what to set.
func (s Setting) remedy(value string) string {
	if s.Flag == "" || value == "" {
		return ""
	}
	return fmt.Sprintf("; start with %s %s (%s) to let it in", s.Flag, shortened(value), s.Env)
}

// Guard tells requests of programs and allowed pages from those of other pages. It is safe for concurrent use.
type Guard struct {
	// static after construction
	opts    Options
	origins Origins
	hosts   Hosts
	log     *slog.Logger

	said rate.Sometimes // a page can ask as often as it likes
}

// New returns a Guard.
func New(o Options) (*Guard, error) {
	origins, err := ParseOrigins(o.Origins)
	if err != nil {
		return nil, err
	}
	o.CheckHost = o.CheckHost || len(o.Hosts) > 0
	if host, _, err := net.SplitHostPort(o.Listen); err == nil && hostName(host) {
		o.Hosts = append(slices.Clip(o.Hosts), host)
	}
	hosts, err := ParseHosts(o.Hosts)
	if err != nil {
		return nil, err
	}
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Guard{
		opts: o, origins: origins, hosts: hosts, log: log, said: rate.Sometimes{First: 20, Interval: time.Second},
	}, nil
}

// Check refuses a request from a page or extension that is not allowed, and one whose Host is not a name of this port. The
// error is a *[errs.Error] of [errs.HostRefused] or [errs.OriginRefused]; it is logged.
func (g *Guard) Check(r *http.Request) error {
	err := g.host(r)
	if err == nil {
		err = g.origin(r)
	}
	if err == nil {
		return nil
	}
	g.said.Do(func() {
		g.log.WarnContext(r.Context(), "refused a request that a web page may have sent", "reason", err.Reason, "problem", err.Message,
			"method", r.Method, "path", shortened(r.URL.Path), "host", shortened(r.Host), "origin", shortened(r.Header.Get("Origin")))
	})
	return err
}

func (g *Guard) host(r *http.Request) *errs.Error {
	if !g.opts.CheckHost || g.hosts.every {
		return nil
	}
	name, ip, ok := splitHost(r.Host)
	switch {
	case !ok:
	case ip.IsValid():
		if ip.IsLoopback() || g.hosts.allows(ip.String()) || g.opts.Literals == EveryLiteral || cameTo(r, ip) {
			return nil
		}
	case name == "localhost" || g.hosts.allows(name) || g.origins.host(name):
		return nil
	}
	if ip.IsValid() {
		name = ip.String()
	}
	return errs.New(errs.HostRefused, "the host %q is not served here%s", shortened(r.Host), g.opts.HostSetting.remedy(name))
}

func (g *Guard) origin(r *http.Request) *errs.Error {
	switch values := r.Header.Values("Origin"); {
	case len(values) > 1:
		return errs.New(errs.OriginRefused, "there is more than one Origin header")
	case len(values) == 0:
		return g.untold(r)
	case g.origins.Allows(values[0]), sameOrigin(values[0], r.Host):
		return nil
	default:
		return g.strange(fmt.Sprintf("the origin %q", shortened(values[0])), values[0])
	}
}

// untold checks a request without an Origin. Programs send no Sec-Fetch-Site. Browsers leave the Origin out where a page
// reads or embeds without asking to see what comes, and where an extension reads what its permissions cover; they say so
// here. A click on a link, a typed address and a download are not requests of a page.
func (g *Guard) untold(r *http.Request) *errs.Error {
	mode := r.Header.Get("Sec-Fetch-Mode")
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "", site == "same-origin":
		return nil
	case reads && mode == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document":
		return nil
	case site == "none" && mode != "cors": // a program on top of a browser's engine; an extension's mode is cors
		return nil
	}
	return g.strange("a page or extension that does not name its origin", "with its origin")
}

// strange is the refusal of an origin that is not allowed; would is the value of the flag that would allow it.
func (g *Guard) strange(who, would string) *errs.Error {
	return errs.New(errs.OriginRefused, "%s may not call%s", who, g.opts.OriginSetting.remedy(would))
}

// host reports whether an allowed page has this host: it may call from there, so it may be served there.
func (o Origins) host(name string) bool {
	if ip, err := netip.ParseAddr(name); err == nil && ip.IsValid() {
		return false
	}
	for _, p := range o.patterns {
		web := p.scheme == "http" || p.scheme == "https"
		if p == anyOrigin || web && (p.host == name || (len(p.host) > 2 && p.host[:2] == "*." && Hosts{below: []string{p.host[1:]}}.allows(name))) {
			return true
		}
	}
	return false
}

// shortened bounds how much of a request is repeated in an error.
func shortened(s string) string {
	const most = 200
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
