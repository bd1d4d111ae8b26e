package rpc

import (
	"context"
	"log/slog"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
)

// Errors turns every handler's error into the status that public returns; callers see nothing else of it. Faults of the pod
// are logged with what cause returns, which may say more than callers are told. What the pod cannot do just now
// (codes.Unavailable) is a warning, what has failed in it (codes.Internal) an error; what was the caller's own doing is not
// logged.
func Errors(log *slog.Logger, public func(error) *status.Status, cause func(error) error) []grpc.ServerOption {
	e := teller{log: obs.OrDiscard(log), public: public, cause: cause}
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(e.unary), grpc.ChainStreamInterceptor(e.stream)}
}

// teller is the interceptor of [Errors].
type teller struct {
	log    *slog.Logger
	public func(error) *status.Status
	cause  func(error) error
}

func (e teller) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	res, err := next(ctx, req)
	if err != nil {
		return nil, e.tell(ctx, info.FullMethod, err)
	}
	return res, nil
}

func (e teller) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if err := next(srv, stream); err != nil {
		return e.tell(stream.Context(), info.FullMethod, err)
	}
	return nil
}

func (e teller) tell(ctx context.Context, method string, err error) error {
	st := e.public(err)
	switch st.Code() {
	case codes.Unavailable:
		e.log.WarnContext(ctx, "refused", "method", method, "error", e.cause(err))
	case codes.Internal:
		e.log.ErrorContext(ctx, "failed", "method", method, "error", e.cause(err))
	}
	return st.Err()
}
