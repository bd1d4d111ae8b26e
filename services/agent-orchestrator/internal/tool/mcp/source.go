package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	// Logger hears of servers that fail; nil means discard.
	Logger *slog.Logger
}

// Source has the tools of MCP servers.
type Source struct {
	// static after construction
	opts Options
}

// New checks the options and returns a Source.
func New(o Options) (*Source, error) {
	if err := errors.Join(
		options.Require("mcp", map[string]bool{"Guard": o.Guard == nil}),
		options.NotNegative("mcp", map[string]int64{"ConnectTimeout": int64(o.ConnectTimeout)}),
	); err != nil {
		return nil, err
	}
	if o.ConnectTimeout == 0 {
		o.ConnectTimeout = connectTimeout
	}
	o.Logger = obs.OrDiscard(o.Logger)
	return &Source{opts: o}, nil
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
		wg.Go(func() { parts[i] = s.open(ctx, config) })
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
	server   *server // nil if it could not be reached
	tools    []tool.Tool
	remarks  []tool.Remark
	problems []string
}

// open connects to one server and reads what it has.
func (s *Source) open(ctx context.Context, config Server) part {
	srv := &server{opts: &s.opts, config: config.McpServer, trusted: config.Trusted}
	problem := func(err error) string {
		s.opts.Logger.WarnContext(ctx, "an MCP server failed", "transport", transportType(config.McpServer), "kind", kind(err))
		return "MCP server " + config.GetName() + ": " + err.Error()
	}
	sess, err := srv.session(ctx)
	if err != nil {
		return part{problems: []string{problem(err)}}
	}
	listed, err := srv.listTools(ctx, sess)
	if err != nil {
		srv.close()
		return part{problems: []string{problem(err)}}
	}
	p := part{server: srv}
	var bad []error
	for _, t := range listed {
		if err := toolname.Check(t.Name); err != nil {
			bad = append(bad, err)
			continue
		}
		p.tools = append(p.tools, newTool(srv, t))
	}
	if len(bad) > 0 {
		p.problems = append(p.problems, problem(&Error{Kind: Protocol, Message: fmt.Sprintf("%d of its tools are left out: %v", len(bad), bad[0]), Err: bad[0]}))
	}
	if len(listed) == maxTools {
		p.problems = append(p.problems, problem(&Error{Kind: TooMuch, Message: "it has more tools than are taken"}))
	}
	for _, name := range config.GetPrompts() {
		text, err := srv.prompt(ctx, sess, name)
		if err != nil {
			p.problems = append(p.problems, problem(err))
			continue
		}
		p.remarks = append(p.remarks, tool.Remark{Kind: promptKind, Of: config.GetName() + ": " + name, Text: text})
	}
	return p
}

func join(parts []part) tool.Listing {
	var listing tool.Listing
	var servers []*server
	for _, p := range parts {
		listing.Tools = append(listing.Tools, p.tools...)
		listing.Remarks = append(listing.Remarks, p.remarks...)
		listing.Problems = append(listing.Problems, p.problems...)
		if p.server != nil {
			servers = append(servers, p.server)
		}
	}
	listing.Close = func() {
		var wg sync.WaitGroup
		for _, s := range servers {
			wg.Go(s.close)
		}
		wg.Wait()
	}
	return listing
}
