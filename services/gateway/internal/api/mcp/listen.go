package mcp

import (
	"context"
	"net/http"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
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
	place, err := a.Limits.Stream(ctx, q.from.User)
	if err != nil {
		q.fail(&wire.Error{Code: codeLimited, Message: err.Error(), Status: http.StatusTooManyRequests})
		return
	}
	defer place.Leave()
	tools := string(wire.Member(wanted, "toolsListChanged")) == "true"
	leave, left := a.Streams.Enter(false)
	defer left()
	var changed <-chan struct{}
	if tools {
		var stop func()
		changed, stop = a.Changes.Listen(ctx, q.from.User)
		defer stop()
	}
	meta := append(append([]byte(`"_meta":{"`+wire.MetaSubscriptionID+`":`), q.msg.ID...), '}')
	agreed := "{}"
	if tools {
		agreed = `{"toolsListChanged":true}`
	}
	q.out.event(notification("notifications/subscriptions/acknowledged", append(meta, (`,"notifications":`+agreed)...)))
	news := notification("notifications/tools/list_changed", meta)
	if a.follow(ctx, q.out, q.from.Ends, leave, changed, news) {
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
	who := a.principal(id)
	if _, err := a.sealer.Open(who.User, named); err != nil {
		gone(w, nil)
		return nil
	}
	return a.stream(w, r, who.User, who.Ends)
}

func (a *API) stream(w http.ResponseWriter, r *http.Request, user ids.UserID, ends time.Time) error {
	place, err := a.Limits.Stream(r.Context(), user)
	if err != nil {
		return err
	}
	defer place.Leave()
	leave, left := a.Streams.Enter(false)
	defer left()
	changed, stop := a.Changes.Listen(r.Context(), user)
	defer stop()
	out := newReply(w, false)
	out.comment()
	a.follow(r.Context(), out, ends, leave, changed, notification("notifications/tools/list_changed", nil))
	out.end()
	return nil
}

// follow sends news after each change. It returns true where the server ends the stream, and false where its client did.
func (a *API) follow(
	ctx context.Context, out *reply, ends time.Time, leave <-chan struct{}, changed <-chan struct{}, news []byte,
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
		case <-changed:
			out.event(news)
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
