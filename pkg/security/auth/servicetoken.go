package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"strings"

	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/tap"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/connlimit"
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

// enter runs when only the header of a call has come: without a valid token, nothing after it is read.
func (g tokenGate) enter(ctx context.Context, call *tap.Info) (context.Context, error) {
	if strings.HasPrefix(call.FullMethodName, healthService) {
		return ctx, nil // and its connection stays that of an unknown client
	}
	if err := g.check(call.Header.Get("authorization")); err != nil {
		return ctx, err
	}
	if p, ok := peer.FromContext(ctx); ok {
		connlimit.KnownPeer(p.Addr)
	}
	return ctx, nil
}

func (g tokenGate) check(values []string) error {
	if len(g.want) == 0 { // TLS has shown who it is, or nobody has to
		return nil
	}
	if len(values) != 1 {
		return refuse(Unauthenticated, nil, "one authorization entry with the service token is required")
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || !g.knows(token) {
		return refuse(Unauthenticated, nil, "the service token is wrong")
	}
	return nil
}

// perRPC is metadata that goes with each call.
type perRPC map[string]string

func (p perRPC) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return p, nil
}

// RequireTransportSecurity is false: in a private network, operators may choose to use the token alone.
func (p perRPC) RequireTransportSecurity() bool { return false }
