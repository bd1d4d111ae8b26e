package cli_test

import (
	"os"
	"strings"
	"testing"

	googlegrpc "google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// If users have to authenticate, gRPC accepts only calls with the token that the cluster made.
func TestGRPCOfAClusterWithTokensIsClosed(t *testing.T) {
	t.Parallel()
	p := up(t, []string{"JWT_SECRET=0123456789abcdef0123456789abcdef", "AUTH_MODE=jwt"}, "--demo")
	grpc, file := p.find(`gateway 0 .* gRPC (\S+)`), p.find(`SERVICE_TOKEN_FILE=(\S+)`)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for name, ask := range map[string][]string{
		"a gateway":    {"call", "--user", "demo", "--grpc", grpc, "list_directory"},
		"its nodes":    {"nodes", "--user", "demo", "--grpc", grpc},
		"the registry": {"watch", "--user", "demo", "--registry", p.find(`node-registry .* gRPC (\S+)`)},
	} {
		for _, env := range [][]string{nil, {"SERVICE_TOKEN=not-the-token-of-this-cluster"}} {
			caller := start(t, env, ask...)
			if code := caller.wait(); code == 0 || !strings.Contains(caller.err.String(), "Unauthenticated") {
				t.Errorf("%s: %d %s", name, code, &caller.err)
			}
		}
		if name == "the registry" {
			continue // it would go on
		}
		friend := start(t, []string{"SERVICE_TOKEN_FILE=" + file}, ask...)
		if code := friend.wait(); code != 0 {
			t.Errorf("%s, with the token: %d %s", name, code, &friend.err)
		}
	}
	orchestrator, err := googlegrpc.NewClient(p.find(`agent-orchestrator .* gRPC (\S+)`), googlegrpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer orchestrator.Close()
	_, err = agentv1.NewAgentServiceClient(orchestrator).ListSessions(auth.OnBehalf(t.Context(), "demo"), &agentv1.ListSessionsRequest{})
	if status.Code(err) != codes.Unauthenticated {
		t.Errorf("the orchestrator: %v", err)
	}
}
