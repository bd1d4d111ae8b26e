package app

import (
	"context"

	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/transport/rpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/admission"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/calltask"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/grpcapi"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/memory"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/skill"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/usertoken"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/workspace"
)

func (a *App) listen(ctx context.Context) (_ *rpc.Server, err error) {
	serviceAuth, err := a.cfg.Services.ServerOptions()
	if err != nil {
		return nil, err
	}
	a.api, err = grpcapi.New(grpcapi.Options{
		Engine: a.engine, Sessions: a.store, Settings: a.store, Allowlist: a.allowlist, Approvals: a.admitter, Files: a.files, Live: a.live, Version: a.version, Logger: a.log,
	})
	if err != nil {
		return nil, err
	}
	tokens, err := usertoken.New(usertoken.Options{Store: a.store, Bus: a.bus, Logger: a.log})
	if err != nil {
		return nil, err
	}
	files, err := workspace.NewService(workspace.ServiceOptions{Store: a.files})
	if err != nil {
		return nil, err
	}
	opts := append(a.tracing.InnerServerOptions(), obs.MeasureServer(a.metrics, "hecaton_agent_rpc_duration_seconds",
		"Duration of unary calls that this pod answered, by method and status code."))
	opts = append(opts, serviceAuth...)
	opts = append(opts, grpcapi.ServerOptions(a.log)...)
	register := func(s *grpc.Server) {
		agentv1.RegisterAgentServiceServer(s, a.api)
		agentv1.RegisterToolboxServiceServer(s, a.toolbox)
		agentv1.RegisterWorkspaceServiceServer(s, files)
		agentv1.RegisterNameServiceServer(s, &grpcapi.Names{Store: a.store})
		agentv1.RegisterSkillServiceServer(s, skill.NewService(a.skills))
		agentv1.RegisterMemoryServiceServer(s, memory.NewService(a.memories))
		agentv1.RegisterTokenServiceServer(s, tokens)
		agentv1.RegisterScheduleServiceServer(s, a.schedule)
		agentv1.RegisterTaskServiceServer(s, &calltask.Server{Store: a.store})
		agentv1.RegisterApprovalServiceServer(s, &admission.Server{Admitter: a.admitter})
	}
	if a.listener != nil {
		a.grpc, err = rpc.On(a.listener, register, opts...)
		return a.grpc, err
	}
	a.grpc, err = rpc.Listen(ctx, a.cfg.GRPCAddr, register, opts...)
	return a.grpc, err
}
