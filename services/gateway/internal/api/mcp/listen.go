package mcp

import (
	"bytes"
	"context"
	"net/http"
	"slices"

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
)

// listen answers subscriptions/listen.
func (a *API) listen(ctx context.Context, q *query) {
	wanted := wire.Member(q.msg.Params, "notifications")
	if !jsonrpc.IsObject(wanted) {
		q.fail(wire.Invalid("Invalid params: notifications must be an object"))
		return
	}
	watched := wire.Member(wanted, "taskIds")
	if watched != nil && !q.declaresTasks() {
		q.fail(wire.MissingCapability(tasksCapability))
		return
	}
	agreed := a.agree(&q.from, wanted)
	s, err := a.open(ctx, &q.from, agreed, q.revocable)
	if err != nil {
		q.fail(&wire.Error{Code: codeLimited, Message: err.Error(), Status: http.StatusTooManyRequests})
		return
	}
	s.out, s.meta = q.out, append(append([]byte(`"_meta":{"`+wire.MetaSubscriptionID+`":`), q.msg.ID...), '}')
	if watched != nil {
		s.watch = a.watchTasks(q, watched)
		agreed.tasks = s.watch.list()
	}
	s.last = bytes.Join(q.frame(resultMeta(`"`+wire.MetaSubscriptionID+`":`+string(q.msg.ID))), nil)
	q.out.event(notification("notifications/subscriptions/acknowledged", slices.Concat(s.meta, []byte(`,"notifications":`), agreed.json())))
	q.goesOn = true
	s.serve(ctx)
}

// get serves the stream of a session.
func (a *API) get(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if wire.IsStateless(r.Header.Get(wire.HeaderVersion)) {
		notAllowed(w)
		return nil
	}
	if !wire.Accepts(r.Header, "text/event-stream") {
		refuse(w, http.StatusNotAcceptable, wire.BadRequest("Not acceptable: Accept must have text/event-stream"), nil)
		return nil
	}
	named := r.Header.Get(wire.HeaderSession)
	if named == "" {
		refuse(w, http.StatusBadRequest, wire.BadRequest("Bad request: "+wire.HeaderSession+" is required, as initialize gives it"), nil)
		return nil
	}
	from, bad := a.request(r, id)
	if bad != nil {
		refuse(w, bad.Status, bad, nil)
		return nil
	}
	opened, err := a.sealer.Open(from.User, named)
	if err != nil {
		gone(w, nil)
		return nil
	}
	s, err := a.open(r.Context(), &from, a.everything(&from, opened.Name), id.OnRevoked)
	if err != nil {
		return err
	}
	s.out = newReply(w, false)
	s.out.comment()
	s.serve(r.Context())
	return nil
}
