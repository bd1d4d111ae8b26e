package grpcapi

import (
	"context"
	"errors"
	"log/slog"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/rpc"
)

// public returns what a caller may know of an error.
func public(err error) *status.Status {
	var reasoned *errs.Error
	var bad *ids.InvalidError
	switch {
	case errors.As(err, &reasoned):
		return reasoned.GRPCStatus()
	case errors.As(err, &bad):
		return errs.New(errs.InvalidArgument, "%v", bad).GRPCStatus()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err)
	}
	if st, ok := status.FromError(err); ok {
		return st
	}
	return errs.New(errs.Internal, "internal error").GRPCStatus()
}

// maxRequest is the largest request: a message, and a history of the largest messages that are still read.
const maxRequest = 40 << 20

// ServerOptions turn every handler's error into a status, log internal errors, and accept requests of up to maxRequest
// bytes.
func ServerOptions(log *slog.Logger) []grpc.ServerOption {
	return append(rpc.Errors(log, public, errs.Cause), grpc.MaxRecvMsgSize(maxRequest))
}
