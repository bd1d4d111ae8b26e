package dialect

import (
	"cmp"
	"errors"
	"net/http"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/security/connlimit"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// greetTimeout is how long a client has for the first frame, which says who it is.
const greetTimeout = 10 * time.Second

// arrival is a connection whose first frame has to say who it is. Its methods run on the connection's reader.
type arrival struct {
	*door
	socket  *conn.Conn
	request *http.Request // of the upgrade; nil once the client is known
	token   string        // of that request
	late    *time.Timer   // closes the connection
	client  *Client       // nil until the user is known
	next    conn.Handler  // of the frames behind the first one
}

// await accepts a connection that names no user yet. Until it does, it counts against the
// port's limit of unknown connections.
func (d *door) await(w http.ResponseWriter, r *http.Request) {
	token, subprotocol, err := auth.SocketToken(r)
	if err != nil {
		d.Problem(w, d.Limits.Refused(r, err))
		return
	}
	c := d.upgrade(w, r, subprotocol)
	if c == nil {
		return
	}
	a := &arrival{door: d, socket: c, request: r, token: token}
	a.late = time.AfterFunc(greetTimeout, func() {
		d.refuse(c, &Refusal{Reason: conn.MissingID, Message: "the first frame did not come in time"})
	})
	d.run(c, d.kind, func() conn.Handler { return a.handle }, a.ended)
}

func (a *arrival) handle(b *frame.Buffer) (asked bool) {
	if a.next != nil {
		return a.next(b)
	}
	defer b.Release()
	a.next = drop
	if !a.late.Stop() || a.socket.Reason() != conn.Open {
		return false // too late
	}
	client, refusal := a.greet(b.Bytes())
	if refusal != nil {
		a.refuse(a.socket, refusal)
		return false
	}
	client.seat.account.PayAndWait(a.ctx, len(b.Bytes()))
	a.client, a.request = client, nil
	a.next = client.begin()
	return false
}

// greet reads the first frame and lets the client in.
func (a *arrival) greet(first []byte) (*Client, *Refusal) {
	if a.Draining() {
		return nil, &Refusal{Reason: conn.Draining, Message: "the pod drains"}
	}
	id, refusal := a.kind.Greet(first)
	if refusal != nil {
		return nil, a.failed(refusal)
	}
	who, err := a.Auth.Renew(a.ctx, cmp.Or(id.Token, a.token), id.User)
	if errors.Is(err, errs.AgentUnavailable) {
		return nil, &Refusal{Reason: conn.Overloaded, Message: err.Error()}
	}
	if err == nil {
		err = who.Grant.Allow(a.kind.need())
	}
	if err != nil {
		return nil, a.failed(&Refusal{Reason: conn.NotAllowed, Message: err.Error()})
	}
	connlimit.Known(a.request.Context())
	s, err := a.seat(a.ctx, a.kind, id.User)
	if err != nil {
		return nil, &Refusal{Reason: conn.Overloaded, Message: err.Error()}
	}
	return a.door.client(a.socket, id, s, who), nil
}

// failed counts a login that failed against the client's address.
func (a *arrival) failed(why *Refusal) *Refusal {
	if err := a.Limits.FailedLogin(a.request); err != nil {
		return &Refusal{Reason: conn.Overloaded, Message: err.Error()}
	}
	return why
}

func (a *arrival) ended() {
	a.late.Stop()
	if a.client != nil {
		a.client.leave()
	}
}
