package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/hecaton-dev/hecaton/pkg/config"
)

// tokenGate lets calls in that show the shared token.
type tokenGate struct {
	// want is the hash of the token: comparing hashes takes the same time whatever the length of what is shown.
	want [sha256.Size]byte
}

func newTokenGate(token config.Secret) tokenGate {
	return tokenGate{sha256.Sum256([]byte(token.Reveal()))}
}

const healthService = "/grpc.health.v1.Health/"

func (g tokenGate) check(ctx context.Context, method string) error {
	if strings.HasPrefix(method, healthService) {
		return nil
	}
	values := metadata.ValueFromIncomingContext(ctx, "authorization")
	if len(values) != 1 {
		return refuse(Unauthenticated, nil, "one authorization entry with the service token is required")
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	got := sha256.Sum256([]byte(token))
	if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(got[:], g.want[:]) != 1 {
		return refuse(Unauthenticated, nil, "the service token is wrong")
	}
	return nil
}

func (g tokenGate) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if err := g.check(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	return next(ctx, req)
}

func (g tokenGate) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if err := g.check(stream.Context(), info.FullMethod); err != nil {
		return err
	}
	return next(srv, stream)
}

// perRPC is metadata that goes with each call.
type perRPC map[string]string

func (p perRPC) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return p, nil
}

// RequireTransportSecurity is false: within a cluster whose network is its own, the token alone is a choice that
// operators may make.
func (p perRPC) RequireTransportSecurity() bool { return false }
