package calls

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolclient"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
)

// GRPC calls as services do, through the tool client that they use.
type GRPC struct{ client *toolclient.Client }

// NewGRPC returns a way to these gateways, each host:port.
func NewGRPC(addrs []string, dial []grpc.DialOption, log *slog.Logger) (*GRPC, error) {
	// Second tries are the callers' own, so that they are counted.
	c, err := toolclient.Dial(toolclient.Options{
		Targets: addrs, Dial: dial, Patience: toolclient.Patience{NotConnected: -1, Busy: -1, Unavailable: -1}, Logger: log,
	})
	if err != nil {
		return nil, err
	}
	return &GRPC{c}, nil
}

// Close ends the connections.
func (g *GRPC) Close() { g.client.Close() }

// Ready reports whether a gateway is connected.
func (g *GRPC) Ready(ctx context.Context) error { return g.client.Ready(ctx) }

// Attempt makes one attempt; the client chooses the gateway.
func (g *GRPC) Attempt(ctx context.Context, _ int64, r Request) (string, ledger.End) {
	call := &toolv1.Call{UserId: r.User, NodeId: r.Node, ToolName: r.Tool, ArgumentsJson: r.Arguments}
	if end, ok := ctx.Deadline(); ok {
		call.Timeout = durationpb.New(max(time.Until(end), time.Millisecond))
	}
	answer, err := g.client.Call(ctx, call)
	if err != nil {
		return "", grpcEnd(err)
	}
	var result struct {
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(answer.GetResultJson(), &result); err != nil || len(result.Content) != 1 {
		return string(answer.GetErrorJson()), ledger.End{Class: ledger.Answered} // whose text is not that of the call
	}
	return result.Content[0].Text, ledger.End{Class: ledger.Answered}
}

func grpcEnd(err error) ledger.End {
	var known *errs.Error
	if errors.As(err, &known) {
		return ledger.End{Class: class(known.Reason), Reason: string(known.Reason), Err: err}
	}
	return ledger.End{Class: ledger.Unknown, Reason: "GRPC_" + status.Code(err).String(), Err: err}
}
