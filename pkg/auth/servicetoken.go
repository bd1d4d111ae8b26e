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

// tokenGate lets calls in that show one of the shared tokens: two while they are replaced.
type tokenGate struct {
	// want are the hashes of the tokens: comparing hashes takes the same time whatever the length of what is shown.
	want [][sha256.Size]byte
}

func newTokenGate(tokens config.Secret) tokenGate {
	var g tokenGate
	for _, token := range tokens.Keys() {
		g.want = append(g.want, sha256.Sum256([]byte(token.Reveal())))
	}
	return g
}

// knows compares with every token, so that the time does not tell which one it was.
func (g tokenGate) knows(token string) bool {
	got, match := sha256.Sum256([]byte(token)), 0
	for _, want := range g.want {
		match |= subtle.ConstantTimeCompare(got[:], want[:])
	}
	return match == 1
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
	if !strings.EqualFold(scheme, "Bearer") || !g.knows(token) {
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
