package rest

import (
	"io"
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
	for _, named := range [...]struct{ field, id string }{{"session_id", b.SessionID}, {"node_id", b.NodeID}} {
		if named.id == "" {
			continue
		}
		if err := ids.Check(named.field, named.id); err != nil {
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
		writeAnswer(w, answer)
		return nil
	}
}

// writeAnswer puts the answer together from the bytes that came, without another copy of those that are many. The client may be
// gone.
func writeAnswer(w http.ResponseWriter, a *router.Answer) {
	head, tail, parts, success := `{"error":`, `,"success":false}`+"\n", [][]byte{a.Error}, false
	if a.Error == nil {
		if parts, success = toolresult.Parts(a.Result); success {
			tail = `,"success":true}` + "\n"
		}
		head = `{"result":`
	}
	size := len(head) + len(tail)
	for _, part := range parts {
		size += len(part)
	}
	h := w.Header()
	h["Content-Type"] = jsonType
	if size <= whole {
		b := append(make([]byte, 0, size), head...)
		for _, part := range parts {
			b = append(b, part...)
		}
		_, _ = w.Write(append(b, tail...))
		return
	}
	h["Content-Length"] = []string{strconv.Itoa(size)}
	_, _ = io.WriteString(w, head)
	for _, part := range parts {
		if _, err := w.Write(part); err != nil {
			return
		}
	}
	_, _ = io.WriteString(w, tail)
}

// whole is the size up to which an answer is copied together and written at once; net/http says its length then.
const whole = 2 << 10

// jsonType is never changed: the headers of all answers share it.
var jsonType = []string{"application/json"}
