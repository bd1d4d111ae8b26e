package mcp

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/session"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
)

// exchange is one POST.
type exchange struct {
	// Static after construction.
	api     *API
	r       *http.Request
	from    catalogue.Request
	version string
	session *session.Session // nil in the stateless revisions
	out     *reply
	goesOn  bool // the reply is a stream's now
	// owner is what tells the client's token from others of its user, and revocable calls a function once it is revoked.
	owner     string
	revocable func(end func()) (stop func())
}

func (x *exchange) stateless() bool { return x.session == nil }

// post serves what a client sends.
func (a *API) post(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if !wire.Accepts(r.Header, "application/json", "text/event-stream") {
		refuse(w, http.StatusNotAcceptable, wire.BadRequest("Not acceptable: Accept must have application/json and text/event-stream"), nil)
		return nil
	}
	raw, err := edge.ReadBody(r)
	if err != nil {
		return err
	}
	body, of, bad := wire.Read(raw)
	if bad != nil {
		refuse(w, bad.Status, bad, of)
		return nil
	}
	x := &exchange{api: a, r: r, out: newReply(w, body.Batch), owner: owner(id), revocable: id.OnRevoked}
	if x.from, bad = a.request(r, id); bad != nil {
		refuse(w, bad.Status, bad, body.Messages[0].ID)
		return nil
	}
	for i := range body.Messages {
		if err := x.from.Grant.Allow(a.methods[body.Messages[i].Method].need); err != nil {
			return err
		}
	}
	switch m := &body.Messages[0]; {
	case body.Batch:
		x.older(w, body)
	case m.Method == initializes && !m.Meta.HasVersion():
		a.initialize(w, x, m)
	case wire.StatelessRequest(r.Header, m):
		x.newer(w, m)
	default:
		x.older(w, body)
	}
	return nil
}

// owner is what a token is known by for longer than it is good: tokens that an authorization server renews are those of one client.
func owner(id auth.Identity) string {
	if id.MayBeRevoked() {
		return id.Token
	}
	for _, claim := range []string{"client_id", "azp"} {
		if client, ok := id.Claims[claim].(string); ok {
			return client
		}
	}
	return ""
}

// newer serves a message of the stateless revisions.
func (x *exchange) newer(w http.ResponseWriter, m *wire.Message) {
	x.version = wire.Stateless
	bad := wire.CheckStateless(x.r.Header, m)
	switch {
	case bad != nil:
	case m.IsResponse():
		bad = wire.BadRequest("Invalid request: this version has no requests of the server's that could be answered")
	case m.IsNotification():
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if bad != nil {
		refuse(w, bad.Status, bad, m.ID)
		return
	}
	x.serve(x.r.Context(), m) // its end is the client's cancel
	if !x.goesOn {
		x.out.end()
	}
}

// older serves what a session sends.
func (x *exchange) older(w http.ResponseWriter, body wire.Body) {
	id := body.Messages[0].ID
	if body.Batch {
		id = nil
	}
	if v := x.r.Header.Get(wire.HeaderVersion); v != "" && !slices.Contains(wire.Older, v) {
		if wire.IsStateless(v) && body.Batch {
			refuse(w, http.StatusBadRequest, wire.BadRequest("Invalid request: this version has no batches"), nil)
			return
		}
		refuse(w, http.StatusBadRequest, wire.BadRequest("Unsupported protocol version: "+wire.HeaderVersion+" must be one of "+strings.Join(wire.Supported, ", ")), id)
		return
	}
	named := x.r.Header.Get(wire.HeaderSession)
	if named == "" {
		refuse(w, http.StatusBadRequest, wire.BadRequest("Bad request: "+wire.HeaderSession+" is required, as initialize gives it"), id)
		return
	}
	s, err := x.api.sealer.Open(x.from.User, named)
	if err != nil {
		gone(w, id)
		return
	}
	x.session, x.version = &s, s.Version
	if body.Batch && s.Version != wire.V20250326 {
		refuse(w, http.StatusBadRequest, wire.BadRequest("Invalid request: only version "+wire.V20250326+" has batches"), nil)
		return
	}
	x.serveAll(body)
}

// serveAll serves the messages of a session at once, and returns with the last.
func (x *exchange) serveAll(body wire.Body) {
	ctx, cancel := background(x.r)
	defer cancel()
	asked := false
	var work sync.WaitGroup
	for i := range body.Messages {
		m := &body.Messages[i]
		switch {
		case m.IsResponse() || m.IsNotification():
			x.hear(m)
		case !body.Batch:
			asked = true
			x.serve(ctx, m)
		default:
			asked = true
			work.Go(func() { x.serveOne(ctx, m, i > 0) })
		}
	}
	work.Wait()
	if !asked {
		x.out.w.WriteHeader(http.StatusAccepted)
		return
	}
	x.out.end()
}

// serveOne serves a request of a batch. All but the first one are counted as if they had come alone.
func (x *exchange) serveOne(ctx context.Context, m *wire.Message, counted bool) {
	if counted {
		account, err := x.api.Limits.Enter(x.from.User, 0)
		if err != nil {
			x.out.failed(m.ID, &wire.Error{Code: codeLimited, Message: err.Error(), Status: http.StatusTooManyRequests})
			return
		}
		defer account.Leave()
	}
	x.serve(ctx, m)
}

// codeLimited is a code of our own, outside JSON-RPC's range.
const codeLimited = -31429

// hear takes what needs no answer.
func (x *exchange) hear(m *wire.Message) {
	switch {
	case m.IsResponse():
		x.api.Relay.Answered(x.session.Name, m.ID, m.Result)
	case m.Method == "notifications/cancelled":
		if id := wire.Member(m.Params, "requestId"); id != nil {
			x.api.Relay.Cancelled(x.session.Name, id)
		}
	}
}

// serve answers one request.
func (x *exchange) serve(ctx context.Context, m *wire.Message) {
	q := &query{exchange: x, msg: m}
	ctx, end := q.span(ctx)
	defer end()
	defer q.measure(time.Now())
	do, ok := x.api.methods[m.Method]
	if !ok || do.eras&x.era() == 0 {
		q.fail(wire.NotFound(m.Method))
		return
	}
	do.serve(ctx, q)
}

// failed answers a request with an error.
func (x *exchange) failed(id []byte, e *wire.Error) {
	if !x.stateless() {
		e.Status = http.StatusOK // as of any answer
	}
	x.out.failed(id, e)
}
