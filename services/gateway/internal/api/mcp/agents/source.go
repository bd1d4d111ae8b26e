package agents

import (
	"context"
	"slices"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
)

// Include is the word with which a client's URL asks for these tools.
const Include = "agent"

// Runs starts and follows runs (package agentapi).
type Runs interface {
	Invoke(ctx context.Context, user ids.UserID, req *agentv1.InvokeRequest, each func(*agentv1.Event)) error
	Resume(ctx context.Context, user ids.UserID, req *agentv1.ResumeRequest, each func(*agentv1.Event)) error
	Follow(ctx context.Context, user ids.UserID, session string, after int64, each func(*agentv1.Event)) error
	Session(ctx context.Context, user ids.UserID, session string) (*agentv1.Session, error)
	Cancel(ctx context.Context, user ids.UserID, session string)
}

// Source implements [catalogue.Source]. It is safe for concurrent use.
type Source struct {
	// Static after construction.
	runs Runs
	more []catalogue.Source
}

// New returns a Source. more are tools of other parts that are asked for by the same word.
func New(runs Runs, more ...catalogue.Source) *Source { return &Source{runs: runs, more: more} }

// Asked reports whether a request asks for what this package has, and may have it.
func Asked(r *catalogue.Request) bool {
	return slices.Contains(r.Include, Include) && r.Grant.Allow(auth.RunAgents) == nil
}

// Tools implements [catalogue.Source].
func (s *Source) Tools(ctx context.Context, r *catalogue.Request) ([]catalogue.Tool, error) {
	if !Asked(r) {
		return nil, nil
	}
	tools := []catalogue.Tool{s.runAgent()}
	for _, m := range s.more {
		t, err := m.Tools(ctx, r)
		if err != nil {
			return nil, err
		}
		tools = append(tools, t...)
	}
	return tools, nil
}

// Find implements [catalogue.Source].
func (s *Source) Find(ctx context.Context, r *catalogue.Request, name string) (t catalogue.Tool, ok bool, err error) {
	if !Asked(r) {
		return t, false, nil
	}
	if name == runName {
		return s.runAgent(), true, nil
	}
	for _, m := range s.more {
		if t, ok, err = m.Find(ctx, r, name); ok || err != nil {
			return t, ok, err
		}
	}
	return t, false, nil
}

// wrong is the result of a call whose arguments cannot be used.
func wrong(message string) catalogue.Result {
	b := jsonrpc.AppendString([]byte(`"content":[{"type":"text","text":`), "The arguments are wrong: "+message)
	return catalogue.Result{Members: [][]byte{append(b, `}],"isError":true`...)}}
}
