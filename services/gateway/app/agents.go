package app

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/transport/target"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/agentapi"
)

// maxEvent bounds one message of an orchestrator: an event brings the pictures of a tool's result with it.
const maxEvent = 64 << 20

// startAgents connects to the orchestrators. The pod is ready without any: nodes are served all the same.
func (a *App) startAgents(context.Context) error {
	if a.cfg.OrchestratorAddr == "" {
		return nil
	}
	opts, err := a.cfg.Services.DialOptions()
	if err != nil {
		return err
	}
	waits := &patience{ends: time.Now().Add(firstAgent)}
	opts = append(append(opts, a.tracing.DialOptions()...), a.measureOrchestrator())
	opts = append(opts, waits.dialOptions()...)
	addr, balance := target.Healthy(a.cfg.OrchestratorAddr, agentv1.AgentService_ServiceDesc.ServiceName, agentapi.Repeatable...)
	opts = append(append(opts, balance...),
		grpc.WithConnectParams(reconnect), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxEvent)))
	a.agents, err = grpc.NewClient(addr, opts...)
	return err
}

func (a *App) stopAgents(context.Context) error {
	if a.agents == nil {
		return nil
	}
	return a.agents.Close()
}

func (a *App) agentAPI() (*agentapi.API, error) {
	return agentapi.New(agentapi.Config{
		Auth: a.auth, Orchestrators: a.agents, MaxBody: int64(a.cfg.MaxFrame) + headroom, Streams: &a.streams,
		InternalSecret: a.cfg.InternalSecret.Reveal(), Limits: a.limits, Logger: a.log,
	})
}
