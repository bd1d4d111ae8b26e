package toolclient

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// askTimeout is how long one gateway has for a question; the registry behind it has two seconds, and is asked at most
// twice.
const askTimeout = 5 * time.Second

// ListNodes lists a user's nodes, first connected first.
//
// Its errors, like those of [Client.ResolveNode] and [Client.BindSession], are *[errs.Error] where no gateway could answer,
// else a gRPC status: InvalidArgument for a request that nobody could answer, NotFound for a node that was never seen.
func (c *Client) ListNodes(ctx context.Context, req *toolv1.ListNodesRequest) (*toolv1.ListNodesResponse, error) {
	return ask(ctx, c, toolv1.ToolServiceClient.ListNodes, req)
}

// ResolveNode tells which node a session's calls go to, and binds an unbound session where there is one answer.
func (c *Client) ResolveNode(ctx context.Context, req *toolv1.ResolveNodeRequest) (*toolv1.ResolveNodeResponse, error) {
	return ask(ctx, c, toolv1.ToolServiceClient.ResolveNode, req)
}

// BindSession binds a session to a node that has been seen.
func (c *Client) BindSession(ctx context.Context, req *toolv1.BindSessionRequest) (*toolv1.BindSessionResponse, error) {
	return ask(ctx, c, toolv1.ToolServiceClient.BindSession, req)
}

// GetTools returns the definitions that one of a user's nodes gave of its tools; NotFound where there are none any more.
func (c *Client) GetTools(ctx context.Context, req *toolv1.GetToolsRequest) (*toolv1.GetToolsResponse, error) {
	return ask(ctx, c, toolv1.ToolServiceClient.GetTools, req)
}

// ask sends a request to one gateway after the other until one answers, for at most Patience.Unavailable. Repeating one of
// these requests does no harm.
func ask[Q, A any](ctx context.Context, c *Client, rpc func(toolv1.ToolServiceClient, context.Context, Q, ...grpc.CallOption) (A, error), q Q) (A, error) {
	end := time.Now().Add(max(c.patience.Unavailable, 0) + askTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(end) {
		end = d
	}
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	r := retries{Client: c, end: end}
	for {
		s, err := r.next(ctx)
		if err != nil {
			var none A
			return none, err
		}
		answer, err := askOnce(ctx, s.peer.conn, rpc, q)
		if err == nil || !r.again(ctx, s.peer, err) {
			return answer, public(err)
		}
	}
}

func askOnce[Q, A any](ctx context.Context, conn *grpc.ClientConn, rpc func(toolv1.ToolServiceClient, context.Context, Q, ...grpc.CallOption) (A, error), q Q) (A, error) {
	once, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	answer, err := rpc(toolv1.NewToolServiceClient(conn), once, q)
	if err == nil {
		return answer, nil
	}
	err = errs.FromGRPC(err)
	var own *errs.Error
	switch {
	case errors.As(err, &own):
	case errors.Is(ctx.Err(), context.Canceled):
		err = errs.New(errs.Cancelled, "the caller cancelled the request: %w", err)
	case status.Code(err) == codes.Unavailable, status.Code(err) == codes.DeadlineExceeded:
		err = &unsentError{err}
	}
	return answer, err
}
