package grpcapi

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/rpc"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/watch"
)

// public returns what a caller may know of an error.
func public(err error) *status.Status {
	var reason *errs.Error
	var invalid *ids.InvalidError
	switch {
	case errors.As(err, &reason):
		return reason.GRPCStatus()
	case errors.As(err, &invalid):
		return status.New(codes.InvalidArgument, oneLine(err))
	case errors.Is(err, watch.ErrFellBehind):
		return status.New(codes.ResourceExhausted, err.Error())
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err)
	}
	if st, ok := status.FromError(err); ok {
		return st
	}
	return status.New(codes.Internal, "internal error")
}

// oneLine is the text of an error that may be a join of several.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// ServerOptions turn every handler's error into a status, and log faults of the pod.
func ServerOptions(log *slog.Logger) []grpc.ServerOption { return rpc.Errors(log, public, errs.Cause) }
