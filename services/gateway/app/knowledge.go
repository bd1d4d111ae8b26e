package app

import (
	"context"

	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/transport/target"
	knowledgev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/knowledge/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/knowledgeapi"
)

// startKnowledge connects to the knowledge services. The pod is ready without any.
func (a *App) startKnowledge(context.Context) error {
	if a.cfg.KnowledgeAddr == "" {
		return nil
	}
	opts, err := a.cfg.Services.DialOptions()
	if err != nil {
		return err
	}
	opts = append(append(opts, a.tracing.DialOptions()...), obs.MeasureClient(a.metrics, "hecaton_gateway_knowledge_rpc_duration_seconds",
		"Duration of unary calls to knowledge services, by method and status code."))
	addr, balance := target.Healthy(a.cfg.KnowledgeAddr, knowledgev1.KnowledgeService_ServiceDesc.ServiceName, knowledgeapi.Repeatable...)
	opts = append(append(opts, balance...), grpc.WithConnectParams(reconnect), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxEvent)))
	a.knowledge, err = grpc.NewClient(addr, opts...)
	return err
}

func (a *App) stopKnowledge(context.Context) error {
	if a.knowledge == nil {
		return nil
	}
	return a.knowledge.Close()
}
