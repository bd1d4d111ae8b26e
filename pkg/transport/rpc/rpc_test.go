package rpc_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/hecaton-dev/hecaton/pkg/process/lifecycle"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/rpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// slow answers when it is let.
type slow struct {
	agentv1.UnimplementedAgentServiceServer
	entered, leave chan struct{}
}

func (s slow) GetInfo(ctx context.Context, _ *agentv1.GetInfoRequest) (*agentv1.GetInfoResponse, error) {
	s.entered <- struct{}{}
	select {
	case <-s.leave:
		return &agentv1.GetInfoResponse{Version: "v"}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func run(t *testing.T, service agentv1.AgentServiceServer, stopTimeout time.Duration, opts ...grpc.ServerOption) (server *rpc.Server, cc *grpc.ClientConn, stop func() error, waited *bool) {
	t.Helper()
	g := &lifecycle.Group{StopTimeout: stopTimeout}
	waited = new(bool)
	rpc.AddTo(g, func(ctx context.Context) (_ *rpc.Server, err error) {
		server, err = rpc.Listen(ctx, "127.0.0.1:0", func(s *grpc.Server) { agentv1.RegisterAgentServiceServer(s, service) }, opts...)
		return server, err
	}, func() { *waited = true })
	started := make(chan struct{})
	g.Add("started", func(context.Context) error { close(started); return nil }, nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	<-started
	cc, err := grpc.NewClient("passthrough:///"+server.Addr(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cc.Close() })
	return server, cc, func() error { cancel(); return <-ended }, waited
}

func health(t *testing.T, cc *grpc.ClientConn) healthv1.HealthCheckResponse_ServingStatus {
	t.Helper()
	resp, err := healthv1.NewHealthClient(cc).Check(t.Context(), &healthv1.HealthCheckRequest{Service: agentv1.AgentService_ServiceDesc.ServiceName})
	if err != nil {
		t.Fatal(err)
	}
	return resp.GetStatus()
}

func TestAStopLetsCallsFinish(t *testing.T) {
	t.Parallel()
	service := slow{entered: make(chan struct{}), leave: make(chan struct{})}
	server, cc, stop, waited := run(t, service, 30*time.Second)
	if got := health(t, cc); got != healthv1.HealthCheckResponse_SERVING {
		t.Error(got)
	}
	server.Drain()
	if got := health(t, cc); got != healthv1.HealthCheckResponse_NOT_SERVING {
		t.Error(got)
	}
	answer := make(chan error, 1)
	go func() {
		_, err := agentv1.NewAgentServiceClient(cc).GetInfo(t.Context(), &agentv1.GetInfoRequest{})
		answer <- err
	}()
	<-service.entered
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	if !cc.WaitForStateChange(t.Context(), connectivity.Ready) { // the server has said that it goes
		t.Fatal("the server does not say that it goes")
	}
	select {
	case err := <-stopped:
		t.Fatalf("stopped with a call open: %v", err)
	default:
	}
	close(service.leave)
	if err := <-answer; err != nil {
		t.Error(err)
	}
	if err := <-stopped; err != nil || !*waited {
		t.Error(err, *waited)
	}
}

func TestAStopEndsCallsThatDoNotFinish(t *testing.T) {
	t.Parallel()
	service := slow{entered: make(chan struct{}), leave: make(chan struct{})}
	_, cc, stop, _ := run(t, service, 200*time.Millisecond)
	answer := make(chan error, 1)
	go func() {
		_, err := agentv1.NewAgentServiceClient(cc).GetInfo(t.Context(), &agentv1.GetInfoRequest{})
		answer <- err
	}()
	<-service.entered
	_ = stop() // says that the time was not enough
	if err := <-answer; err == nil {
		t.Error("a call outlived its server")
	}
}
