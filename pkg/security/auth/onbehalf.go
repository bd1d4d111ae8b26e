package auth

import (
	"context"

	"google.golang.org/grpc/metadata"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// userKey is the metadata key that names the user for whom a service makes a request. Only services can reach the port where
// it counts ([ServiceAuth]); the edge sets it from what it authenticated, never from what a client says.
const userKey = "hecaton-user-bin" // binary: user ids are opaque, and plain metadata is ASCII

// OnBehalf returns a context whose outgoing RPCs are made for user.
func OnBehalf(ctx context.Context, user ids.UserID) context.Context {
	return metadata.AppendToOutgoingContext(ctx, userKey, string(user))
}

// BehalfOf returns the user for whom an incoming RPC is made; an *[ids.InvalidError] where there is none.
func BehalfOf(ctx context.Context) (ids.UserID, error) {
	values := metadata.ValueFromIncomingContext(ctx, userKey)
	if len(values) != 1 {
		return "", ids.Check("user_id", "")
	}
	return ids.UserID(values[0]), ids.Check("user_id", values[0])
}
