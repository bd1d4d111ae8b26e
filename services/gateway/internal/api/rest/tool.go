package rest

import (
	"net/http"
	"strconv"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolresult"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
)

type toolBody struct {
	ToolName  string         `json:"tool_name"`
	ToolArgs  jsonrpc.Object `json:"tool_args"`
	SessionID string         `json:"session_id"`
	NodeID    string         `json:"node_id"`
}

// request checks a body.
func (b *toolBody) request(who auth.Identity, kind nodev1.NodeType) (router.Request, error) {
	req := router.Request{Tool: b.ToolName, Deadline: time.Now().Add(router.DefaultTimeout)}
	if b.ToolName == "" {
		return req, &edge.BadRequest{Message: "tool_name is required, a string that is not empty"}
	}
	req.Arguments = b.ToolArgs
	for field, id := range map[string]string{"session_id": b.SessionID, "node_id": b.NodeID} {
		if id == "" {
			continue
		}
		if err := ids.Check(field, id); err != nil {
			return req, err
		}
	}
	req.Target = router.Target{
		User: who.User, Node: ids.NodeID(b.NodeID), Type: kind, Session: ids.SessionID(b.SessionID), Within: who.Grant.Nodes,
	}
	return req, nil
}

// tool calls a tool of a node of one type (docs/protocols/nodes-rest.md#call-a-tool).
func (a *API) tool(kind nodev1.NodeType) func(http.ResponseWriter, *http.Request, auth.Identity) error {
	return func(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
		var body toolBody
		if err := edge.Decode(r, &body); err != nil {
			return err
		}
		req, err := body.request(id, kind)
		if err != nil {
			return err
		}
		req.Traceparent = obs.Traceparent(r.Context())
		answer, err := a.Caller.Call(r.Context(), req, nil)
		if err != nil {
			return err
		}
		defer answer.Release()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(toolAnswer(answer)) // the client may be gone
		return nil
	}
}

// toolAnswer puts the answer together from the bytes that came.
func toolAnswer(a *router.Answer) []byte {
	if a.Error != nil {
		return append(append([]byte(`{"error":`), a.Error...), ",\"success\":false}\n"...)
	}
	result, success := toolresult.View(a.Result)
	b := append(append(make([]byte, 0, len(result)+32), `{"result":`...), result...)
	return append(strconv.AppendBool(append(b, `,"success":`...), success), "}\n"...)
}
