package app

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/target"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// TestRequestsWaitForTheFirstOrchestrator starts one while two requests are there already.
func TestRequestsWaitForTheFirstOrchestrator(t *testing.T) {
	t.Parallel()
	address := fmt.Sprintf("127.0.0.1:%d", testkit.FreePort())
	conn := dialAgents(t, address, time.Minute)
	client := agentv1.NewAgentServiceClient(conn)
	answers := make(chan error, 2)
	go func() {
		_, err := client.GetSession(t.Context(), &agentv1.GetSessionRequest{})
		answers <- err
	}()
	go func() {
		stream, err := client.Follow(t.Context(), &agentv1.FollowRequest{})
		if err == nil {
			_, err = stream.Recv()
		}
		answers <- err
	}()
	testkit.Eventually(t, 10*time.Second, func() bool { return conn.GetState() == connectivity.TransientFailure },
		"the gateway has found nobody yet")
	startAgent(t, address)
	for range 2 {
		if err := <-answers; status.Code(err) != codes.Unimplemented {
			t.Errorf("a request that came before the orchestrator got %v, want its answer", err)
		}
	}
}

func TestWithoutOrchestratorPatienceEnds(t *testing.T) {
	t.Parallel()
	conn := dialAgents(t, fmt.Sprintf("127.0.0.1:%d", testkit.FreePort()), 50*time.Millisecond)
	client := agentv1.NewAgentServiceClient(conn)
	if _, err := client.GetSession(t.Context(), &agentv1.GetSessionRequest{}); status.Code(err) != codes.Unavailable {
		t.Errorf("without an orchestrator: %v, want Unavailable", err)
	}
}

func dialAgents(t *testing.T, address string, first time.Duration) *grpc.ClientConn {
	t.Helper()
	addr, opts := target.Healthy(address, agentv1.AgentService_ServiceDesc.ServiceName)
	waits := &patience{ends: time.Now().Add(first)}
	opts = append(append(opts, waits.dialOptions()...),
		grpc.WithConnectParams(reconnect), grpc.WithTransportCredentials(insecure.NewCredentials()))
	conn, err := grpc.NewClient(addr, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// startAgent serves an orchestrator that answers Unimplemented to everything.
func startAgent(t *testing.T, address string) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server, healthy := grpc.NewServer(), health.NewServer()
	agentv1.RegisterAgentServiceServer(server, agentv1.UnimplementedAgentServiceServer{})
	healthv1.RegisterHealthServer(server, healthy)
	healthy.SetServingStatus(agentv1.AgentService_ServiceDesc.ServiceName, healthv1.HealthCheckResponse_SERVING)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-ended; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			t.Error(err)
		}
	})
}
