package grpcapi

import (
	"context"
	"errors"
	"log/slog"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/refusal"
)

// public returns what a caller may know of an error.
func public(err error) *status.Status {
	var refused *refusal.Error
	var call *errs.Error
	var bad *ids.InvalidError
	switch {
	case errors.As(err, &refused):
		return refused.GRPCStatus()
	case errors.As(err, &call):
		return call.GRPCStatus()
	case errors.As(err, &bad):
		return refusal.New(refusal.InvalidArgument, "%v", bad).GRPCStatus()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err)
	}
	if st, ok := status.FromError(err); ok {
		return st
	}
	return refusal.New(refusal.Internal, "internal error").GRPCStatus()
}

// cause is what a log says of an error: also what the caller is not told.
func cause(err error) error {
	var refused *refusal.Error
	if errors.As(err, &refused) && refused.Err != nil {
		return refused.Err
	}
	return err
}

// ServerOptions have every handler's error told as a status, and the pod's own faults logged.
func ServerOptions(log *slog.Logger) []grpc.ServerOption {
	unary := func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		res, err := next(ctx, req)
		if err != nil {
			return nil, answer(ctx, log, info.FullMethod, err)
		}
		return res, nil
	}
	stream := func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		if err := next(srv, stream); err != nil {
			return answer(stream.Context(), log, info.FullMethod, err)
		}
		return nil
	}
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(unary), grpc.ChainStreamInterceptor(stream), grpc.MaxRecvMsgSize(maxRequest),
	}
}

// maxRequest is the largest request: a message, and a history of the largest messages that are still read.
const maxRequest = 40 << 20

func answer(ctx context.Context, log *slog.Logger, method string, err error) error {
	st := public(err)
	switch st.Code() {
	case codes.Unavailable:
		log.WarnContext(ctx, "refused", "method", method, "error", cause(err))
	case codes.Internal:
		log.ErrorContext(ctx, "failed", "method", method, "error", cause(err))
	}
	return st.Err()
}
