package agentapi

import (
	"net/http"
	"strconv"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

type callBody struct {
	ToolName  string         `json:"tool_name" also:"toolName"`
	ToolArgs  jsonrpc.Object `json:"tool_args" also:"toolArgs"`
	SessionID string         `json:"session_id" also:"sessionId"`
	NodeID    string         `json:"node_id" also:"nodeId"`
}

// callTool runs one tool outside any run. Arguments and result pass as they are written.
func (a *API) callTool(w http.ResponseWriter, r *http.Request, user ids.UserID) error {
	var b callBody
	if err := edge.Decode(r, &b); err != nil {
		return err
	}
	resp, err := a.toolbox.CallTool(auth.OnBehalf(r.Context(), user), &agentv1.CallToolRequest{
		ToolName: b.ToolName, ToolArgsJson: b.ToolArgs, SessionId: b.SessionID, NodeId: b.NodeID,
	})
	if err != nil {
		return err
	}
	result := resp.GetResultJson()
	if len(result) == 0 {
		result = []byte("null")
	}
	out := strconv.AppendBool(append(make([]byte, 0, len(result)+len(resp.GetError())+64), `{"success":`...), resp.GetSuccess())
	out = append(append(out, `,"result":`...), result...)
	out = append(addString(out, "error", resp.GetError()), "}\n"...)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(out) // the client may be gone
	return nil
}
