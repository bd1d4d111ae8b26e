package cli

import (
	"context"
	"errors"
	"fmt"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// callGRPC calls through ToolService; progress goes to standard error.
func callGRPC(ctx context.Context, e Env, cfg callConfig, what *toolv1.Call) (*answer, error) {
	conn, err := dialGRPC(cfg.GRPC, cfg.Services)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := reach(ctx, conn); err != nil {
		return nil, err
	}
	stream, err := toolv1.NewToolServiceClient(conn).CallToolStream(ctx, &toolv1.CallToolStreamRequest{Call: what})
	if err != nil {
		return nil, rpcError(err)
	}
	for {
		event, err := stream.Recv()
		if err != nil {
			return nil, rpcError(err)
		}
		switch event := event.GetEvent().(type) {
		case *toolv1.CallToolStreamResponse_Progress:
			fmt.Fprintln(e.Stderr, progressLine(event.Progress))
		case *toolv1.CallToolStreamResponse_Answer:
			return readAnswer(event.Answer)
		}
	}
}

func progressLine(p *toolv1.Progress) string {
	share := fmt.Sprintf("%g", p.GetProgress())
	if p.GetTotal() > 0 {
		share += fmt.Sprintf(" of %g", p.GetTotal())
	}
	if p.GetMessage() == "" {
		return share
	}
	return share + " " + printable(p.GetMessage())
}

func readAnswer(a *toolv1.Answer) (*answer, error) {
	switch outcome := a.GetOutcome().(type) {
	case *toolv1.Answer_ResultJson:
		return newAnswer(outcome.ResultJson)
	case *toolv1.Answer_ErrorJson:
		return &answer{raw: outcome.ErrorJson, jsonrpc: outcome.ErrorJson}, nil
	}
	return nil, errors.New("the answer is empty")
}
