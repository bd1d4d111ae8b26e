package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// remote is one tool of a server.
type remote struct {
	// static after construction
	spec   tool.Spec
	listed *sdk.Tool // as the server lists it
	server *server
}

var _ tool.Defined = (*remote)(nil)

// Spec says what the tool is.
func (r *remote) Spec() tool.Spec { return r.spec }

// Call runs the tool. The call is sent again, once, if the session turned out to be over before the server took the call.
func (r *remote) Call(ctx context.Context, in tool.Invocation) (tool.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	params := &sdk.CallToolParams{Name: r.listed.Name}
	if len(in.Args) > 0 {
		params.Arguments = in.Args
	}
	if in.Progress != nil {
		token, done := r.server.progress.follow(in.Progress)
		defer done()
		params.SetProgressToken(token)
	}
	for again := false; ; again = true {
		sess, fresh, err := r.server.acquire(ctx)
		if err != nil {
			return tool.Result{}, r.failure(tool.NotDelivered, "", err.Error())
		}
		f := r.server.newFlight()
		got, err := sess.CallTool(f.attach(ctx), params)
		gone := err != nil && ctx.Err() == nil && over(f, err, fresh, sess.ID())
		if gone {
			r.server.leave(sess)
		}
		r.server.release(sess)
		switch {
		case err == nil:
			return convert(got), nil
		case again || !gone:
			return r.outcome(ctx, f, err)
		}
	}
}

// over reports whether a call was not taken because the session no longer exists: it was closed before, the process had
// ended, or the server has forgotten it. Some servers say so of a session that they do not know with 400.
func over(f *flight, err error, fresh bool, session string) bool {
	status, sent := f.seen()
	return !sent && (errors.Is(err, sdk.ErrConnectionClosed) || !f.http) ||
		status == http.StatusNotFound && errors.Is(err, sdk.ErrSessionMissing) ||
		status == http.StatusBadRequest && !fresh && session != ""
}

// outcome says what an error means for the call.
func (r *remote) outcome(ctx context.Context, f *flight, err error) (tool.Result, error) {
	status, sent := f.seen()
	var rpc *jsonrpc.Error
	switch {
	case f.overflowed():
		return tool.Result{IsError: true, Text: fmt.Sprintf("The tool has run, but its answer has more than %d MiB, or would take as much with all its values, and was not read.", maxAnswer>>20)}, nil
	case !sent && ctx.Err() == nil:
		return tool.Result{}, r.failure(tool.NotDelivered, "", explain(ctx, f, err).Error())
	case !sent:
		return tool.Result{}, r.failure(tool.NotDelivered, "", "the call was given up before it was sent")
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return tool.Result{}, r.failure(tool.NotDelivered, "", fmt.Sprintf("it does not take the key (HTTP status %d)", status))
	case status/100 == 4:
		return tool.Result{}, r.failure(tool.NotDelivered, "", fmt.Sprintf("it refused the call with HTTP status %d", status))
	case status >= 300:
		return tool.Result{}, r.failure(tool.Unknown, "", fmt.Sprintf("it answered with HTTP status %d; the call may have run", status))
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return tool.Result{}, r.failure(tool.Unknown, errs.ToolTimeout, "it did not answer in time; the call may have run")
	case ctx.Err() != nil:
		return tool.Result{}, r.failure(tool.Unknown, errs.Cancelled, "the call was given up; it may have run")
	case errors.As(err, &rpc) && (status != 0 || !f.http):
		return tool.Result{IsError: true, Text: fmt.Sprintf("error %d: %s", rpc.Code, rpc.Message)}, nil
	}
	return tool.Result{}, r.failure(tool.Unknown, "", "the connection was lost before the answer; the call may have run")
}

func (r *remote) failure(outcome string, reason errs.Reason, message string) *tool.Failure {
	return &tool.Failure{
		Outcome: outcome, Reason: string(reason), Message: "MCP server " + r.server.config.GetName() + ": " + message,
	}
}
