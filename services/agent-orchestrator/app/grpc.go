package app

import (
	"context"

	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/rpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// info implements AgentService.
type info struct {
	agentv1.UnimplementedAgentServiceServer
	version string
}

func (i info) GetInfo(context.Context, *agentv1.GetInfoRequest) (*agentv1.GetInfoResponse, error) {
	return &agentv1.GetInfoResponse{Version: i.version}, nil
}

func (a *App) listen(ctx context.Context) (_ *rpc.Server, err error) {
	strangers, err := a.cfg.Services.ServerOptions()
	if err != nil {
		return nil, err
	}
	a.grpc, err = rpc.Listen(ctx, a.cfg.GRPCAddr, func(s *grpc.Server) {
		agentv1.RegisterAgentServiceServer(s, info{version: a.version})
	}, append(a.tracing.ServerOptions(), strangers...)...)
	return a.grpc, err
}
