package cli

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/services/hecaton/embedded"
)

// summary prints the addresses of everything, and, if the data directory is temporary, why.
func summary(c *embedded.Cluster, cfg upConfig, temporary string) string {
	var b strings.Builder
	gateways := "one gateway"
	if n := len(c.Gateways); n > 1 {
		gateways = fmt.Sprintf("%d gateways", n)
	}
	users := "users show a JWT"
	if cfg.Auth.Mode == auth.Trusted {
		users = "trusted mode, users are not authenticated"
	}
	fmt.Fprintf(&b, "Hecaton is up: %s, %s.\n\n", gateways, users)
	for i, g := range c.Gateways {
		fmt.Fprintf(&b, "  %-20s http://%-21s  gRPC %-21s  admin http://%s\n", fmt.Sprintf("gateway %d", i), g.HTTP, g.GRPC, g.Admin)
	}
	row := func(name string, s embedded.Service) {
		fmt.Fprintf(&b, "  %-20s %28s  gRPC %-21s  admin http://%s\n", name, "", s.GRPC, s.Admin)
	}
	row("node-registry", c.Registry)
	for i, o := range c.Orchestrators {
		name := "agent-orchestrator"
		if len(c.Orchestrators) > 1 {
			name = fmt.Sprintf("orchestrator %d", i)
		}
		row(name, o)
	}
	for i, k := range c.Knowledge {
		name := "knowledge"
		if len(c.Knowledge) > 1 {
			name = fmt.Sprintf("knowledge %d", i)
		}
		row(name, k)
	}
	fmt.Fprintf(&b, "  %-20s %s\n", "NATS", server(c.NATSURL, cfg.NATSURL == ""))
	fmt.Fprintf(&b, "  %-20s %s\n", "Redis", server(c.RedisURL, cfg.RedisURL == ""))
	if temporary != "" {
		temporary = " (temporary: " + temporary + ")"
	}
	fmt.Fprintf(&b, "  %-20s %s%s\n", "data", c.DataDir, temporary)
	if c.Services.Token != "" && !cfg.Services.Enabled() {
		fmt.Fprintf(&b, "  %-20s SERVICE_TOKEN_FILE=%s\n", "gRPC asks for", filepath.Join(c.DataDir, embedded.ServiceTokenFile))
	}
	if cfg.StorageURL != "" {
		fmt.Fprintf(&b, "  %-20s PostgreSQL, %s\n", "sessions", server(cfg.StorageURL, false))
	}
	fmt.Fprintf(&b, "  %-20s %s\n", "model", modelName(cfg.model()))
	if !auth.IsLoopback(cfg.Host) {
		fmt.Fprintf(&b, "\n  The gateways listen on %s: HTTP and gRPC can be reached from other machines.\n", cfg.Host)
	}
	return b.String()
}

// server names a server without its credentials.
func server(address config.Secret, own bool) string {
	if own {
		u, err := url.Parse(address.Reveal())
		if err == nil {
			return "in this process, " + u.Host
		}
	}
	var hosts []string
	for part := range strings.SplitSeq(address.Reveal(), ",") {
		if u, err := url.Parse(part); err == nil && u.Host != "" {
			hosts = append(hosts, u.Host)
		} else if _, _, err := net.SplitHostPort(part[strings.LastIndex(part, "@")+1:]); err == nil {
			hosts = append(hosts, part[strings.LastIndex(part, "@")+1:])
		}
	}
	return strings.Join(hosts, ", ")
}

// modelName says which model answers where a request names none.
func modelName(m embedded.Model) string {
	if m.IsOffline() {
		return "offline: a scripted one in this process, which follows plain commands (OPENAI_BASE_URL names a real one)"
	}
	at := "api.openai.com"
	if m.BaseURL != "" {
		at = server(config.Secret(m.BaseURL), false)
	}
	if m.Name == "" {
		return at + "; requests must name a model, since OPENAI_MODEL is not set"
	}
	return printable(m.Name) + " at " + at
}
