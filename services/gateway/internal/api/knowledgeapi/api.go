package knowledgeapi

import (
	"errors"
	"io"
	"math"
	"net/http"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	knowledgev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/knowledge/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/limits"
)

// API serves knowledge bases. It is safe for concurrent use.
type API struct {
	// Static after construction.
	auth      *auth.Authenticator
	limits    *limits.Limiter // nil for none
	knowledge knowledgev1.KnowledgeServiceClient
}

// New returns an API that asks the given knowledge services.
func New(a *auth.Authenticator, l *limits.Limiter, services grpc.ClientConnInterface) *API {
	return &API{a, l, knowledgev1.NewKnowledgeServiceClient(services)}
}

// Repeatable are the methods that may be tried again on another pod: they change nothing.
var Repeatable = []string{
	knowledgev1.KnowledgeService_GetBase_FullMethodName[1:],
	knowledgev1.KnowledgeService_ListBases_FullMethodName[1:],
	knowledgev1.KnowledgeService_CheckBases_FullMethodName[1:],
	knowledgev1.KnowledgeService_GetDocument_FullMethodName[1:],
	knowledgev1.KnowledgeService_ListDocuments_FullMethodName[1:],
	knowledgev1.KnowledgeService_ListChunks_FullMethodName[1:],
	knowledgev1.KnowledgeService_ReadDocument_FullMethodName[1:],
	knowledgev1.KnowledgeService_Search_FullMethodName[1:],
}

// Uploads are the paths at which POST takes a form with a file.
var Uploads = []string{"/api/knowledge-base/*/documents", "/knowledge-base/*/documents"}

// unlimited: how large a document may be is the service's to say, and nothing holds one in memory.
const unlimited = math.MaxInt64

// Routes adds the endpoints, each with and without the /api prefix.
func (a *API) Routes(mux *http.ServeMux) {
	guard := edge.Guard{Auth: a.auth, Limits: a.limits, Describe: problem}
	for _, base := range []string{"/api/knowledge-base", "/knowledge-base"} {
		for pattern, h := range map[string]handler{
			"GET " + base:                                         a.listBases,
			"GET " + base + "/{id}":                               a.getBase,
			"DELETE " + base + "/{id}":                            a.deleteBase,
			"GET " + base + "/{id}/documents":                     a.listDocuments,
			"GET " + base + "/{id}/documents/{document}":          a.getDocument,
			"GET " + base + "/{id}/documents/{document}/file":     a.downloadDocument,
			"GET " + base + "/{id}/documents/{document}/chunks":   a.listChunks,
			"POST " + base + "/{id}/documents/{document}/process": a.processDocument,
			"DELETE " + base + "/{id}/documents/{document}":       a.deleteDocument,
		} {
			mux.Handle(pattern, guard.User(auth.RunAgents, edge.NoBody, h))
		}
		mux.Handle("POST "+base, guard.User(auth.RunAgents, edge.Small, a.createBase))
		mux.Handle("PUT "+base+"/{id}", guard.User(auth.RunAgents, edge.Small, a.updateBase))
		mux.Handle("POST "+base+"/{id}/documents", guard.User(auth.RunAgents, unlimited, a.uploadDocument))
		mux.Handle("POST "+base+"/search", guard.User(auth.RunAgents, 2*edge.Small, a.searchAll))
		mux.Handle("POST "+base+"/{id}/search", guard.User(auth.RunAgents, 2*edge.Small, a.searchOne))
	}
}

// problem describes an error of ours or of the service.
func problem(err error) edge.Problem {
	err = errs.FromGRPC(err)
	var reasoned *errs.Error
	if !errors.As(err, &reasoned) && (status.Code(err) == codes.Unavailable || errors.Is(err, io.EOF)) {
		err = errs.New(errs.KnowledgeUnavailable, "the knowledge service cannot be reached right now: try again: %w", err)
	}
	return edge.NewProblem(err, nil)
}
