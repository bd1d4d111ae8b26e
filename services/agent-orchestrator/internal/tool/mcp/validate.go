package mcp

import (
	"context"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// Item is a tool or prompt as a server lists it.
type Item struct{ Name, Description string }

// Report is what a server has.
type Report struct{ Tools, Prompts []Item }

// Validate connects to a server, within the connect timeout, and lists its tools and prompts. The error is an *[Error].
func (s *Source) Validate(ctx context.Context, config *agentv1.McpServer) (Report, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.ConnectTimeout)
	defer cancel()
	srv := newServer(&s.opts, Server{McpServer: config})
	defer srv.close()
	var r Report
	tools, err := srv.listTools(ctx)
	if err != nil {
		return Report{}, err
	}
	for _, t := range tools {
		r.Tools = append(r.Tools, Item{t.Name, t.Description})
	}
	prompts, err := srv.listPrompts(ctx)
	if err != nil {
		return Report{}, err
	}
	for _, p := range prompts {
		r.Prompts = append(r.Prompts, Item{p.Name, p.Description})
	}
	return r, nil
}
