package mcp

import (
	"context"
	"net/http"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
)

// A stream of notifications ends when its client closes it, when its token is over, and when the pod drains: then the client
// opens it again, and comes to another pod.

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
	place, err := a.Limits.Stream(ctx, q.from.User)
	if err != nil {
		q.fail(&wire.Error{Code: codeLimited, Message: err.Error(), Status: http.StatusTooManyRequests})
		return
	}
	defer place.Leave()
	leave, left := a.Streams.Enter(false)
	defer left()
	agreed := a.agree(&q.from, wanted)
	news, stop := a.hear(ctx, &q.from, agreed)
	defer stop()
	meta := append(append([]byte(`"_meta":{"`+wire.MetaSubscriptionID+`":`), q.msg.ID...), '}')
	follow := a.watchTasks(q, watched)
	if watched != nil {
		agreed.tasks = follow.list()
	}
	q.out.event(notification("notifications/subscriptions/acknowledged", append(append(meta, `,"notifications":`...), agreed.json()...)))
	defer follow.start(ctx, meta)()
	if a.follow(ctx, q.out, q.from.Ends, leave, news, meta) {
		q.result(resultMeta(`"` + wire.MetaSubscriptionID + `":` + string(q.msg.ID)))
	}
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
	if _, err := a.sealer.Open(from.User, named); err != nil {
		gone(w, nil)
		return nil
	}
	return a.stream(w, r, &from)
}

func (a *API) stream(w http.ResponseWriter, r *http.Request, from *catalogue.Request) error {
	place, err := a.Limits.Stream(r.Context(), from.User)
	if err != nil {
		return err
	}
	defer place.Leave()
	leave, left := a.Streams.Enter(false)
	defer left()
	news, stop := a.hear(r.Context(), from, a.everything(from))
	defer stop()
	out := newReply(w, false)
	out.comment()
	a.follow(r.Context(), out, from.Ends, leave, news, nil)
	out.end()
	return nil
}

// follow sends news after each change, with meta as its params where that is not nil. It returns true where the server ends the stream,
// and false where its client did.
func (a *API) follow(
	ctx context.Context, out *reply, ends time.Time, leave <-chan struct{}, news news, meta []byte,
) bool {
	beat := time.NewTicker(a.Heartbeat)
	defer beat.Stop()
	var over <-chan time.Time
	if !ends.IsZero() {
		timer := time.NewTimer(time.Until(ends))
		defer timer.Stop()
		over = timer.C
	}
	for {
		select {
		case <-news.devices:
			out.event(notification("notifications/tools/list_changed", meta))
		case <-news.services:
			out.event(notification("notifications/tools/list_changed", meta))
		case <-news.prompts:
			out.event(notification("notifications/prompts/list_changed", meta))
		case <-beat.C:
			out.comment()
		case <-leave:
			return true
		case <-over:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// notification is one with these members as its params; nil for none.
func notification(method string, params []byte) []byte {
	b := append(append([]byte(`{"jsonrpc":"2.0","method":"`), method...), '"')
	if params != nil {
		b = append(append(append(b, `,"params":{`...), params...), '}')
	}
	return append(b, '}')
}
