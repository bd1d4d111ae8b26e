package toolclient

import (
	"cmp"
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// Client calls tools through every gateway it knows. It is safe for concurrent use.
type Client struct {
	// static after construction
	patience Patience
	maxCall  int
	tracing  *obs.Tracing
	pool     *pool
	budget   *budget
}

// Dial returns a client and begins to connect; it does not wait for any gateway. Close it.
func Dial(o Options) (*Client, error) {
	targets, err := parseTargets(o.Targets)
	if err != nil {
		return nil, err
	}
	if err := options.NotNegative("toolclient", map[string]int64{"MaxCall": int64(o.MaxCall)}); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	p, err := newPool(targets, o)
	if err != nil {
		return nil, err
	}
	return &Client{patience: o.Patience, maxCall: o.MaxCall, tracing: o.Tracing, pool: p, budget: newBudget()}, nil
}

// Close ends the calls that are open, and the connections. It returns when nothing of the client runs any more.
func (c *Client) Close() { c.pool.close() }

// Ready reports whether calls can be made: nil while at least one gateway is connected, else why none is.
func (c *Client) Ready(context.Context) error { return c.pool.ready() }

// Call runs one tool and waits for the node's answer: its result or its JSON-RPC error, as it came. The call may take
// call.Timeout (60 s where unset) or until the deadline of ctx, whatever comes first, second tries included.
//
// The answer is the caller's own.
func (c *Client) Call(ctx context.Context, call *toolv1.Call) (*toolv1.Answer, error) {
	return c.CallProgress(ctx, call, nil)
}

// CallProgress is Call, and progress hears the node's progress notifications, in order, on the caller's goroutine. While
// progress runs, at most 64 more of them wait; the rest is left out.
func (c *Client) CallProgress(ctx context.Context, call *toolv1.Call, progress func(*toolv1.Progress)) (*toolv1.Answer, error) {
	end, err := c.check(ctx, call)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithDeadline(ctx, end.Add(slack))
	defer cancel()
	r := retries{Client: c, end: end, pinned: call.GetEpoch() != 0}
	for {
		s, err := r.next(ctx)
		if err != nil {
			return nil, err
		}
		under, span := c.attempt(ctx, call)
		answer, err := s.call(ctx, c.until(under, call, end), progress)
		attempted(span, s.peer.key.address, err)
		if err == nil || !r.again(ctx, s.peer, err) {
			return answer, public(err)
		}
	}
}

const (
	// defaultTimeout is that of docs/protocols/zeus-nodes.md#calls.
	defaultTimeout = 60 * time.Second
	// slack is what a gateway has beyond the deadline to say itself that it has passed.
	slack = time.Second
)

// check returns when the call has to be over. What it refuses would end the stream for all calls on it, or could not be
// answered in time.
func (c *Client) check(ctx context.Context, call *toolv1.Call) (time.Time, error) {
	for field, text := range map[string]string{
		"user_id": call.GetUserId(), "node_id": call.GetNodeId(), "session_id": call.GetSessionId(),
		"preferred_node_id": call.GetPreferredNodeId(), "tool_name": call.GetToolName(),
	} {
		if !utf8.ValidString(text) {
			return time.Time{}, status.Errorf(codes.InvalidArgument, "%s is not valid UTF-8", field)
		}
	}
	if size := proto.Size(call); size > c.maxCall {
		return time.Time{}, errs.New(errs.TooLarge, "the call has %d bytes, at most %d are allowed", size, c.maxCall)
	}
	timeout := defaultTimeout
	if d := call.GetTimeout(); d != nil {
		if timeout = d.AsDuration(); d.CheckValid() != nil || timeout <= 0 {
			return time.Time{}, status.Error(codes.InvalidArgument, "timeout must be a positive duration")
		}
	}
	end := time.Now().Add(timeout)
	if d, ok := ctx.Deadline(); ok && d.Before(end) {
		end = d
	}
	return end, nil
}

// until returns the call with the time that is left to it, and the trace of ctx; where no spans are made here, that of the
// call itself comes first. The arguments are shared.
func (c *Client) until(ctx context.Context, call *toolv1.Call, end time.Time) *toolv1.Call {
	parent := obs.Traceparent(ctx)
	if c.tracing == nil {
		parent = cmp.Or(call.GetTraceparent(), parent)
	}
	return &toolv1.Call{
		UserId: call.GetUserId(), NodeId: call.GetNodeId(), NodeType: call.GetNodeType(), SessionId: call.GetSessionId(),
		PreferredNodeId: call.GetPreferredNodeId(), ToolName: call.GetToolName(), ArgumentsJson: call.GetArgumentsJson(),
		Epoch: call.GetEpoch(),
		// A gateway takes no timeout that is not positive.
		Timeout:     durationpb.New(max(time.Until(end), time.Millisecond)),
		Traceparent: parent,
	}
}

// unsentError is a call that no gateway was asked to run. It stays inside the package.
type unsentError struct{ cause error }

func (e *unsentError) Error() string { return fmt.Sprintf("not sent: %v", e.cause) }
func (e *unsentError) Unwrap() error { return e.cause }

// public is err as callers see it.
func public(err error) error {
	if e, ok := err.(*unsentError); ok { //nolint:errorlint // made here, never wrapped
		return errs.New(errs.BusUnavailable, "no gateway took the call: %w", e.cause)
	}
	return err
}
