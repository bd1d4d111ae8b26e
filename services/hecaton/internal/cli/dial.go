package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
)

// maxMessage limits the size of an answer; the limits of the gateway are lower.
const maxMessage = 256 << 20

// dialGRPC returns a connection that is made when it is first used.
func dialGRPC(addr string, s auth.ServiceAuth) (*grpc.ClientConn, error) {
	opts, err := s.DialOptions()
	if err != nil {
		return nil, &usageError{err}
	}
	conn, err := grpc.NewClient(addr, append(opts, grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)))...)
	if err != nil {
		return nil, usage("%q is not an address: %w", addr, err)
	}
	return conn, nil
}

// connectWithin is how long a server on the same network may take.
const connectWithin = 5 * time.Second

// reach waits until conn is connected, so that later failures cannot mean that no server was reached.
func reach(ctx context.Context, conn *grpc.ClientConn) error {
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	conn.Connect()
	for {
		state := conn.GetState()
		if state == connectivity.Ready {
			return nil
		}
		if state == connectivity.TransientFailure || !conn.WaitForStateChange(ctx, state) {
			return &outcomeError{errs.NotDelivered, errors.Join(fmt.Errorf("no server answers at %s", conn.Target()), ctx.Err())}
		}
	}
}

// rpcError is the error of a gRPC call to a server that was reached.
func rpcError(err error) error {
	if err == nil {
		return nil
	}
	err = errs.FromGRPC(err)
	var known *errs.Error
	if errors.As(err, &known) && known.Class() != errs.Refused {
		return err
	}
	st := status.Convert(err)
	said := fmt.Errorf("%s (%s)", st.Message(), st.Code())
	switch st.Code() {
	case codes.InvalidArgument:
		return &usageError{said}
	case codes.Unauthenticated, codes.PermissionDenied, codes.Unimplemented, codes.NotFound:
		return &outcomeError{errs.NotDelivered, said}
	}
	return &outcomeError{errs.Unknown, said}
}
