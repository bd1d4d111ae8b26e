package app

import (
	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/transport/target"
	knowledgev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/knowledge/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool/knowledge"
)

// dialKnowledge connects to the knowledge services; it returns nil where there are none. The pod is ready without them.
func (a *App) dialKnowledge() (*knowledge.Source, error) {
	if a.cfg.KnowledgeAddr == "" {
		return nil, nil
	}
	opts, err := a.cfg.Services.DialOptions()
	if err != nil {
		return nil, err
	}
	name := knowledgev1.KnowledgeService_ServiceDesc.ServiceName
	addr, balance := target.Healthy(a.cfg.KnowledgeAddr, name,
		knowledgev1.KnowledgeService_CheckBases_FullMethodName[1:], knowledgev1.KnowledgeService_Search_FullMethodName[1:],
		knowledgev1.KnowledgeService_ListBases_FullMethodName[1:], knowledgev1.KnowledgeService_ListDocuments_FullMethodName[1:],
		knowledgev1.KnowledgeService_ReadDocument_FullMethodName[1:])
	opts = append(append(opts, a.tracing.DialOptions()...), balance...)
	opts = append(opts, grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(16<<20)))
	if a.knowledge, err = grpc.NewClient(addr, opts...); err != nil {
		return nil, err
	}
	return knowledge.New(knowledge.Options{Services: a.knowledge})
}
