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
	srv := &server{opts: &s.opts, config: config}
	defer srv.close()
	sess, err := srv.session(ctx)
	if err != nil {
		return Report{}, err
	}
	var r Report
	tools, err := srv.listTools(ctx, sess)
	if err != nil {
		return Report{}, err
	}
	for _, t := range tools {
		r.Tools = append(r.Tools, Item{t.Name, t.Description})
	}
	if caps := sess.InitializeResult().Capabilities; caps == nil || caps.Prompts == nil {
		return r, nil
	}
	f := srv.newFlight()
	for p, err := range sess.Prompts(f.attach(ctx), nil) {
		if err != nil {
			return Report{}, explain(ctx, f, err)
		}
		if r.Prompts = append(r.Prompts, Item{p.Name, p.Description}); len(r.Prompts) == maxTools {
			break
		}
	}
	return r, nil
}
