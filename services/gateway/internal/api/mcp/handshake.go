package mcp

import (
	"context"
	"net/http"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/agents"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/session"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
)

// instructions are told to every client, and by many of them to their model.
const instructions = "The tools run on the user's own devices: browsers and desktops that are connected now. " +
	"A name always means the same tool on the same device. Call `devices` to see which devices there are. " +
	"An error with the outcome not_delivered says that the tool did not run; with the outcome unknown it may have run: check before you call it again."

func serverInfo(version string) []byte {
	if version == "" {
		version = "dev"
	}
	return append(jsonrpc.AppendString([]byte(`{"name":"hecaton","title":"Hecaton","version":`), version), '}')
}

// capabilities are what the server declares to a client.
func (x *exchange) capabilities() string {
	more := ""
	if x.api.Files != nil && agents.Asked(&x.from) {
		more = `,"resources":{"subscribe":true}`
	}
	if x.api.Prompts != nil && agents.Asked(&x.from) {
		more += `,"prompts":{"listChanged":true}`
	}
	if x.stateless() && x.api.Tasks != nil {
		more += `,"extensions":{"` + wire.ExtensionTasks + `":{}}`
	}
	return `"capabilities":{"tools":{"listChanged":true}` + more + `},"instructions":`
}

// discover answers server/discover.
func (a *API) discover(_ context.Context, q *query) {
	b := []byte(`"supportedVersions":[`)
	for i, v := range wire.Supported {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsonrpc.AppendString(b, v)
	}
	b = jsonrpc.AppendString(append(b, "],"+q.capabilities()...), instructions)
	q.result(catalogue.Result{Members: [][]byte{append(b, cacheHints...)}})
}

// cacheHints say that what depends on the user is for nobody else, and may change at any time.
const cacheHints = `,"ttlMs":0,"cacheScope":"private"`

// initialize begins a session.
func (a *API) initialize(w http.ResponseWriter, x *exchange, m *wire.Message) {
	if m.ID == nil {
		refuse(w, http.StatusBadRequest, wire.BadRequest("Invalid request: initialize needs an id"), nil)
		return
	}
	asked := jsonrpc.StringMember(m.Params, "protocolVersion")
	if asked == "" {
		refuse(w, http.StatusOK, wire.Invalid("Invalid params: protocolVersion is required, a string"), m.ID)
		return
	}
	version := wire.Negotiate(asked)
	elicits := jsonrpc.IsObject(wire.Member(wire.Member(m.Params, "capabilities"), "elicitation"))
	id, err := a.sealer.Begin(x.from.User, version, elicits)
	if err != nil {
		refuse(w, http.StatusInternalServerError, &wire.Error{Code: jsonrpc.CodeInternalError, Message: "Internal error"}, m.ID)
		return
	}
	w.Header().Set(wire.HeaderSession, id)
	x.session, x.version = &session.Session{}, version
	q := &query{exchange: x, msg: m}
	_, end := q.span(x.r.Context())
	defer end()
	defer q.measure(time.Now())
	b := jsonrpc.AppendString([]byte(`"protocolVersion":`), version)
	b = append(append(append(b, `,"serverInfo":`...), a.server...), ',')
	b = jsonrpc.AppendString(append(b, q.capabilities()...), instructions)
	q.result(catalogue.Result{Members: [][]byte{b}})
}
