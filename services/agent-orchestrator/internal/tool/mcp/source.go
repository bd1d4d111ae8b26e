package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolname"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/netguard"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

const (
	// connectTimeout is how long all servers together may take at the start of a run.
	connectTimeout = 10 * time.Second
	// callTimeout is a server's (docs/protocols/zeus-agents.md#tools-of-a-request).
	callTimeout = 1800 * time.Second
)

// Saved are the users' saved servers.
type Saved interface {
	// Servers returns the servers that all runs of the user have.
	Servers(ctx context.Context, user ids.UserID) ([]Server, error)
}

// Server is how a server is reached, and what the user thinks of it.
type Server struct {
	*agentv1.McpServer
	// ID is that of the saved configuration; "" for a server that comes with a request. Saved ones keep their connections.
	ID string
	// Trusted says that the user believes what the server says of its tools. Servers that come with a request are not trusted.
	Trusted bool
}

// Options of a [Source].
type Options struct {
	// Guard connects to servers over HTTP; required.
	Guard *netguard.Guard
	// Saved may be nil.
	Saved Saved
	// Stdio lets users start processes on this machine: only for a cluster that one person uses.
	Stdio bool
	// ConnectTimeout is for all servers together; 0 means 10 s.
	ConnectTimeout time.Duration
	// IdleTimeout is how long a saved server that nobody uses keeps its connection; 0 means 5 minutes.
	IdleTimeout time.Duration
	// Logger hears of servers that fail; nil means discard.
	Logger *slog.Logger
}

// Source has the tools of MCP servers. Close it.
type Source struct {
	// static after construction
	opts Options
	pool *pool
	// draining is closed by Drain.
	draining chan struct{}
	drain    func()

	mu       sync.Mutex
	watchers map[*watcher]bool // guarded by mu
}

// New checks the options and returns a Source.
func New(o Options) (*Source, error) {
	if err := errors.Join(
		options.Require("mcp", map[string]bool{"Guard": o.Guard == nil}),
		options.NotNegative("mcp", map[string]int64{"ConnectTimeout": int64(o.ConnectTimeout), "IdleTimeout": int64(o.IdleTimeout)}),
	); err != nil {
		return nil, err
	}
	if o.ConnectTimeout == 0 {
		o.ConnectTimeout = connectTimeout
	}
	o.Logger = obs.OrDiscard(o.Logger)
	s := &Source{opts: o, draining: make(chan struct{}), watchers: map[*watcher]bool{}}
	s.drain = sync.OnceFunc(func() { close(s.draining) })
	s.pool = newPool(&s.opts, cmp.Or(o.IdleTimeout, idleTimeout))
	return s, nil
}

// Drain ends every Watch with errs.AgentUnavailable: its caller watches on another pod.
func (s *Source) Drain() { s.drain() }

// Close drains, and ends the connections that are kept. Nobody may use the source any more.
func (s *Source) Close() {
	s.drain()
	s.pool.shut()
}

// Tools connects to the servers of the request, and the user's saved ones, and returns what they have. A server of the
// request takes the place of a saved one with the same name.
func (s *Source) Tools(ctx context.Context, scope tool.Scope) (tool.Listing, error) {
	configs, err := s.servers(ctx, scope)
	if err != nil || len(configs) == 0 {
		return tool.Listing{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.ConnectTimeout)
	defer cancel()
	parts := make([]part, len(configs))
	var wg sync.WaitGroup
	for i, config := range configs {
		wg.Go(func() { parts[i] = s.open(ctx, scope, config) })
	}
	wg.Wait()
	return join(parts), nil
}

// servers are those of the request, then the saved ones, each name once.
func (s *Source) servers(ctx context.Context, scope tool.Scope) ([]Server, error) {
	var all []Server
	for _, source := range scope.Requested {
		if m := source.GetMcp(); m != nil {
			all = append(all, Server{McpServer: m})
		}
	}
	if s.opts.Saved != nil {
		saved, err := s.opts.Saved.Servers(ctx, scope.User)
		if err != nil {
			return nil, err
		}
		all = append(all, saved...)
	}
	seen := map[string]bool{}
	kept := all[:0]
	for _, m := range all {
		if !seen[m.GetName()] && (scope.Key == "" || tool.MayBeOf(scope.Key, m.GetName())) {
			seen[m.GetName()] = true
			kept = append(kept, m)
		}
	}
	return kept, nil
}

// promptKind is of a prompt that the user chose from a server.
const promptKind = "prompt of an MCP server"

// part is what one server gives to a listing.
type part struct {
	lease    *lease // nil if it could not be reached
	tools    []tool.Tool
	remarks  []tool.Remark
	problems []string
}

// open connects to one server and reads what it has.
func (s *Source) open(ctx context.Context, scope tool.Scope, config Server) part {
	srv := s.pool.take(scope.User, config)
	if scope.Key != "" {
		if t := srv.known(scope.Key); t != nil {
			return part{lease: srv, tools: []tool.Tool{t}}
		}
	}
	listed, err := srv.listTools(ctx)
	if err != nil {
		srv.giveBack()
		return part{problems: []string{s.problem(ctx, config, err)}}
	}
	p := part{lease: srv}
	var bad []error
	for _, t := range listed {
		if err := toolname.Check(t.Name); err != nil {
			bad = append(bad, err)
			continue
		}
		p.tools = append(p.tools, newTool(srv.server, t))
	}
	if len(bad) > 0 {
		p.problems = append(p.problems, s.problem(ctx, config, &Error{Kind: Protocol, Message: fmt.Sprintf("%d of its tools are left out: %v", len(bad), bad[0]), Err: bad[0]}))
	}
	if len(listed) == maxTools {
		p.problems = append(p.problems, s.problem(ctx, config, &Error{Kind: TooMuch, Message: "it has more tools than are taken"}))
	}
	if scope.Key != "" || scope.Run == "" {
		return p
	}
	for _, name := range config.GetPrompts() {
		text, err := srv.prompt(ctx, name)
		if err != nil {
			p.problems = append(p.problems, s.problem(ctx, config, err))
			continue
		}
		p.remarks = append(p.remarks, tool.Remark{Kind: promptKind, Of: config.GetName() + ": " + name, Text: text})
	}
	return p
}

// problem says of a server what failed.
func (s *Source) problem(ctx context.Context, config Server, err error) string {
	s.opts.Logger.WarnContext(ctx, "an MCP server failed", "transport", transportType(config.McpServer), "kind", kind(err))
	return "MCP server " + config.GetName() + ": " + err.Error()
}

// known returns the tool of a key, as the server listed it last; nil if it is not known. Whether the tool is still there, the server
// says when it is called.
func (s *server) known(key string) *remote {
	for _, t := range last(s, &s.memory.tools) {
		if toolname.Check(t.Name) == nil && tool.Key(tool.Spec{Name: t.Name, Layer: tool.MCP, Server: s.config.GetName()}) == key {
			return newTool(s, t)
		}
	}
	return nil
}

func join(parts []part) tool.Listing {
	var listing tool.Listing
	var leases []*lease
	kept := true // all of them
	for _, p := range parts {
		listing.Tools = append(listing.Tools, p.tools...)
		listing.Remarks = append(listing.Remarks, p.remarks...)
		listing.Problems = append(listing.Problems, p.problems...)
		if p.lease != nil {
			leases = append(leases, p.lease)
			kept = kept && p.lease.kept
		}
	}
	if kept { // a server that came with the request would lose what it remembers
		listing.Stale = func() bool { return slices.ContainsFunc(leases, func(l *lease) bool { return l.isRetired() }) }
	}
	listing.Close = func() {
		var wg sync.WaitGroup
		for _, l := range leases {
			wg.Go(l.giveBack)
		}
		wg.Wait()
	}
	return listing
}
