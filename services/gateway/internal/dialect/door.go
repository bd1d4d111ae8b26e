package dialect

import (
	"errors"
	"net/http"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/security/connlimit"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// door is the route of one kind of client.
type door struct {
	*Server
	protocol Protocol
	kind     *Kind
	conn     *conn.Config
}

// serve lets a connection in or refuses it. A client that may not stay is told by close code, which a browser can read, unlike
// the status of a failed upgrade; who connects too often is told by status, since an upgrade costs too much. The edge has
// checked the origin.
func (d *door) serve(w http.ResponseWriter, r *http.Request) {
	if d.Draining() {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "this pod is shutting down, connect again", http.StatusServiceUnavailable)
		return
	}
	var id Identity
	var refusal *Refusal
	if d.kind.Identify != nil {
		id, refusal = d.kind.Identify(r)
		id = id.alone()
	}
	if refusal == nil && id.User == "" && d.kind.Greet != nil {
		d.await(w, r)
		return
	}
	who, err := d.Auth.AuthenticateSocket(r, id.User)
	if err == nil {
		err = who.Grant.Allow(d.kind.need())
	}
	switch {
	case errors.Is(err, errs.AgentUnavailable):
		d.Problem(w, err) // nobody knows whether the token is good
		return
	case err == nil && refusal == nil:
		connlimit.Known(r.Context())
	case refusal == nil:
		refusal = &Refusal{Reason: conn.NotAllowed, Message: err.Error()}
	}
	var s seat
	if refusal != nil {
		err = d.Limits.FailedLogin(r)
	} else {
		s, err = d.seat(r.Context(), d.kind, id.User)
	}
	if err != nil {
		d.Problem(w, err)
		return
	}
	c := d.upgrade(w, r, who.Subprotocol)
	switch {
	case c == nil:
		s.leave()
	case refusal != nil:
		d.refuse(c, refusal)
		d.run(c, d.kind, func() conn.Handler { return drop }, s.leave)
	default:
		client := d.client(c, id, s, who.Identity)
		d.run(c, d.kind, client.begin, client.leave)
	}
}

// upgrade takes over the socket of a request; nil where that fails.
func (d *door) upgrade(w http.ResponseWriter, r *http.Request, subprotocol string) *conn.Conn {
	c, err := conn.Accept(w, r, subprotocol, d.conn)
	if err != nil {
		d.Logger.Debug("upgrade failed", "error", err)
		return nil
	}
	return c
}

func (d *door) refuse(c *conn.Conn, why *Refusal) {
	d.Logger.Info("connection refused", "client", d.kind.Name, "reason", why.Reason.String(), "problem", why.Message)
	c.Close(why.Reason)
}

// client makes a client of a connection whose user was authenticated.
func (d *door) client(c *conn.Conn, id Identity, s seat, who auth.Identity) *Client {
	c.Owner = frame.Owner(id.User)
	c.EndAt(who.Ends())
	client := &Client{Kind: d.kind, User: id.User, Node: id.Node, door: d, conn: c, seat: s}
	client.watch(who)
	return client
}

// drop is the handler of connections that may not stay.
func drop(b *frame.Buffer) bool {
	b.Release()
	return false
}
