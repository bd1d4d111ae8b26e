package agentapi

import (
	"net/http"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

// maxMemory is the largest body of a request about memories: of 2,000 characters, however they are escaped.
const maxMemory = 64 << 10

// memoryRoutes adds the endpoints of memories (docs/memory.md).
func (a *API) memoryRoutes(mux *http.ServeMux, guard edge.Guard) {
	for _, at := range []string{"/api/memory", "/memory"} {
		mux.Handle("POST "+at, guard.User(auth.RunAgents, maxMemory, a.saveMemory))
		mux.Handle(at, guard.User(auth.RunAgents, maxMemory, a.bothWays))
		mux.Handle(at+"/", guard.User(auth.RunAgents, maxMemory, a.bothWays))
	}
}

func (a *API) saveMemory(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	var b struct {
		Content   string `json:"content"`
		Type      string `json:"type"`
		Scope     string `json:"scope"`
		ProjectID string `json:"project_id"`
		SessionID string `json:"session_id"`
	}
	if err := edge.Decode(r, &b); err != nil {
		return err
	}
	resp, err := a.memory.SaveMemory(auth.OnBehalf(r.Context(), user), &agentv1.SaveMemoryRequest{
		Content: b.Content, Type: b.Type, Scope: b.Scope, ProjectId: b.ProjectID, SessionId: b.SessionID,
	})
	if err != nil {
		return err
	}
	body, err := restJSON.Marshal(resp.GetMemory())
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(body) // the client may be gone
	return nil
}
