package agentapi

import (
	"cmp"
	"log/slog"
	"math"
	"net/http"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/limits"
)

// Streams knows the streams of events that a pod has.
type Streams interface {
	// Enter adds a stream, which ends when leave is closed, and calls left when it has. endsRun says that the run which it
	// reports is cancelled when it ends.
	Enter(endsRun bool) (leave <-chan struct{}, left func())
}

// alone are the streams of a pod that never drains.
type alone struct{}

func (alone) Enter(bool) (leave <-chan struct{}, left func()) { return nil, func() {} }

// Config is what an API needs. Durations that are 0 have the defaults that are named.
type Config struct {
	Auth *auth.Authenticator
	// Orchestrators is a connection to all of them.
	Orchestrators grpc.ClientConnInterface
	// MaxBody bounds a request's JSON, in bytes.
	MaxBody int64
	// Streams says when streams shall end because this pod goes away; nil where it never does.
	Streams Streams
	// Heartbeat is how long a stream may be silent: 15 s.
	Heartbeat time.Duration
	// Admission is how long a request waits for an orchestrator to accept it, where none can be reached: 10 s. Patience is
	// the same for a stream that has begun: 60 s.
	Admission, Patience time.Duration
	// InternalSecret is what programs show that keep their users' scheduled tasks themselves; empty: there are none.
	InternalSecret string
	// Limits of users; nil for none.
	Limits *limits.Limiter
	Logger *slog.Logger // nil means discard
}

// API serves the agent's endpoints. It is safe for concurrent use.
type API struct {
	// Static after construction.
	cfg      Config
	agent    agentv1.AgentServiceClient
	files    agentv1.WorkspaceServiceClient
	skills   agentv1.SkillServiceClient
	memory   agentv1.MemoryServiceClient
	schedule agentv1.ScheduleServiceClient
	toolbox  agentv1.ToolboxServiceClient
	rest     *runtime.ServeMux // what comes from the protos
	log      *slog.Logger
}

// Repeatable are the methods of orchestrators that may be tried again on another: they change nothing.
var Repeatable = []string{
	agentv1.AgentService_ListSessions_FullMethodName[1:],
	agentv1.AgentService_GetSession_FullMethodName[1:],
	agentv1.AgentService_ListMessages_FullMethodName[1:],
	agentv1.AgentService_GetApprovalSettings_FullMethodName[1:],
	agentv1.ToolboxService_ListTools_FullMethodName[1:],
	agentv1.ToolboxService_GetTool_FullMethodName[1:],
	agentv1.ToolboxService_ListServiceTools_FullMethodName[1:],
	agentv1.ToolboxService_ListServicePrompts_FullMethodName[1:],
	agentv1.ToolboxService_GetServicePrompt_FullMethodName[1:],
	agentv1.ApprovalService_ListApprovals_FullMethodName[1:],
	agentv1.ScheduleService_ListScheduledTasks_FullMethodName[1:],
	agentv1.ScheduleService_GetScheduledTask_FullMethodName[1:],
	agentv1.ScheduleService_ListScheduledRuns_FullMethodName[1:],
	agentv1.ScheduleService_ListNotifications_FullMethodName[1:],
	agentv1.TokenService_ListTokens_FullMethodName[1:],
	agentv1.TokenService_LookUpTokens_FullMethodName[1:],
	agentv1.MemoryService_ListMemories_FullMethodName[1:],
	agentv1.MemoryService_GetMemory_FullMethodName[1:],
	agentv1.MemoryService_GetMemoryProfile_FullMethodName[1:],
	agentv1.MemoryService_SearchMemories_FullMethodName[1:],
	agentv1.SkillService_ListSkills_FullMethodName[1:],
	agentv1.SkillService_GetSkill_FullMethodName[1:],
	agentv1.SkillService_GetSkillFile_FullMethodName[1:],
	agentv1.WorkspaceService_ListFiles_FullMethodName[1:],
	agentv1.WorkspaceService_GetFile_FullMethodName[1:],
}

// New returns an API that asks the given orchestrators.
func New(cfg Config) (*API, error) {
	cfg.Heartbeat = cmp.Or(cfg.Heartbeat, 15*time.Second)
	cfg.Admission = cmp.Or(cfg.Admission, 10*time.Second)
	cfg.Patience = cmp.Or(cfg.Patience, time.Minute)
	if cfg.Streams == nil {
		cfg.Streams = alone{}
	}
	a := &API{
		cfg: cfg, log: obs.OrDiscard(cfg.Logger),
		agent: agentv1.NewAgentServiceClient(cfg.Orchestrators), files: agentv1.NewWorkspaceServiceClient(cfg.Orchestrators),
		skills:   agentv1.NewSkillServiceClient(cfg.Orchestrators),
		schedule: agentv1.NewScheduleServiceClient(cfg.Orchestrators), toolbox: agentv1.NewToolboxServiceClient(cfg.Orchestrators),
		memory: agentv1.NewMemoryServiceClient(cfg.Orchestrators),
	}
	var err error
	a.rest, err = newREST(cfg.Orchestrators)
	return a, err
}

// Limits of bodies, in bytes.
const (
	unlimited   = math.MaxInt64 // read in pieces and passed on: how large a file may be is the workspace's to say
	maxSettings = 64 << 10
	maxResume   = 1 << 20 // decisions, whose arguments an orchestrator takes apart
)

// FilesPath is below which files of the workspace are served, whose bodies are no JSON.
const FilesPath = "/api/workspace/files/"

// Routes adds the endpoints.
func (a *API) Routes(mux *http.ServeMux) {
	guard := edge.Guard{Auth: a.cfg.Auth, Limits: a.cfg.Limits, Describe: problem}
	mux.Handle("POST /api/agent/invoke", guard.Identified(auth.RunAgents, a.cfg.MaxBody, a.invoke))
	mux.Handle("POST /api/agent/resume", guard.Identified(auth.RunAgents, min(maxResume, a.cfg.MaxBody), a.resume))
	mux.Handle("GET /api/agent/sessions/{id}/events", guard.Identified(auth.RunAgents, edge.NoBody, a.sessionEvents))
	mux.Handle("GET "+FilesPath+"{path...}", guard.User(auth.RunAgents, edge.NoBody, a.getFile))
	mux.Handle("PUT "+FilesPath+"{path...}", guard.User(auth.RunAgents, unlimited, a.putFile))
	mux.Handle("DELETE "+FilesPath+"{path...}", guard.User(auth.RunAgents, edge.NoBody, a.deleteFile))

	for path, need := range map[string]auth.Need{
		"/api/agent/sessions": auth.RunAgents, "/api/agent/sessions/": auth.RunAgents, "/api/workspace/files": auth.RunAgents,
		"/api/tools": auth.Everything, "/api/tools/": auth.Everything,
		"/api/tokens": auth.Everything, "/api/tokens/": auth.Everything,
		"/api/approvals": auth.Everything, "/api/approvals/": auth.Everything,
	} {
		mux.Handle(path, guard.User(need, edge.Small, a.serveREST))
	}
	a.skillRoutes(mux, guard)
	a.scheduleRoutes(mux, guard)
	a.memoryRoutes(mux, guard)
	mux.Handle("/api/agent/approval-settings", guard.User(auth.Everything, maxSettings, a.serveREST))
	mux.Handle("POST /api/tools/call", guard.User(auth.UseTools, a.cfg.MaxBody, a.callTool))
}
