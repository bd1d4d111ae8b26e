package toolapi

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/limits"
)

// Limited lets in a user's single requests as the user's limits allow. Calls on streams are let in one by one.
func Limited(l *limits.Limiter) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		account, err := enter(l, req)
		if err != nil {
			return nil, err
		}
		defer account.Leave()
		return handle(ctx, req)
	}
}

// enter lets in a request of any kind. One that names no valid user passes, and is refused by its handler.
func enter(l *limits.Limiter, req any) (*limits.Account, error) {
	var user string
	var size int
	switch req := req.(type) {
	case *toolv1.Call: // the most frequent, so its size is not computed
		user, size = req.GetUserId(), len(req.GetArgumentsJson())
	case interface{ GetCall() *toolv1.Call }:
		return enter(l, req.GetCall())
	case interface {
		proto.Message
		GetUserId() string
	}:
		user, size = req.GetUserId(), proto.Size(req)
	}
	if ids.Check("user_id", user) != nil {
		return nil, nil
	}
	return l.Enter(ids.UserID(user), int64(size))
}
