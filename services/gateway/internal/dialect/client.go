package dialect

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/fanout"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
)

// detachTimeout bounds what is left to do for a connection that has ended.
const detachTimeout = 5 * time.Second

// Client is one connection whose user was authenticated. Its methods run on the connection's reader, except where they say
// otherwise.
type Client struct {
	// Static after construction.
	Kind *Kind
	User ids.UserID
	Node ids.NodeID // that it asked for; empty where it is no node
	door *door
	conn *conn.Conn
	seat seat

	// Owned by the reader.
	session Session
	node    *hub.Node   // nil where it is none
	member  *hub.Client // what follows topics; nil for a node that follows none
	unwatch func()      // ends the watch over the token; ends with the reader

	mu     sync.Mutex
	topics []fanout.Topic
	over   bool // the connection is ending
}

// begin begins the session and returns the handler of frames.
func (c *Client) begin() conn.Handler {
	c.session = c.door.protocol.Session(c)
	if !c.isNode() {
		c.door.Hub.AddClient(c.follower())
	}
	err := c.session.Begin()
	if err != nil {
		c.refused(err)
	}
	c.conn.OnEnd(c.end)
	if err != nil {
		return drop
	}
	return c.handle
}

// follower is what follows topics: few nodes do.
func (c *Client) follower() *hub.Client {
	if c.member == nil {
		c.member = &hub.Client{User: c.User, Kind: c.Kind.Name, Name: uuid.NewString(), Conn: c.conn, Reader: c.session}
	}
	return c.member
}

// isNode reports whether the kind's clients are nodes; others are in the hub as what they are.
func (c *Client) isNode() bool { return c.Kind.Type != nodev1.NodeType_NODE_TYPE_UNSPECIFIED }

// refused closes the connection of a client that may not stay.
func (c *Client) refused(err error) {
	why := &Refusal{Reason: conn.GoingAway, Message: err.Error()}
	_ = errors.As(err, &why) // what is no refusal is no fault of the client
	c.door.refuse(c.conn, why)
}

// Hold makes the client a node. When it returns nil, calls from every pod reach it, as s translates them. The error is a
// *[Refusal].
func (c *Client) Hold(info *nodev1.NodeInfo, s codec.Codec) error {
	n := hub.NewNode(c.User, c.Kind.Name, info, c.conn, s)
	if err := c.door.Holder.Attach(c.door.ctx, n); err != nil {
		return err
	}
	c.node = n
	return nil
}

// Held returns the node that Hold made of the client; nil before.
func (c *Client) Held() *hub.Node { return c.node }

// Follow has the client hear what is written to a topic, from any pod, until it ends or leaves the topic. The dialect has
// checked that it may. The error is a *[Refusal].
func (c *Client) Follow(t fanout.Topic) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over || slices.Contains(c.topics, t) {
		return nil
	}
	if err := c.door.Fanout.Join(c.door.ctx, t, c.follower()); err != nil {
		return &Refusal{Reason: conn.Overloaded, Message: "the bus cannot be subscribed to: " + err.Error()}
	}
	c.topics = append(c.topics, t)
	return nil
}

// Unfollow ends what Follow began.
func (c *Client) Unfollow(t fanout.Topic) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.topics, t); i >= 0 {
		c.topics = slices.Delete(c.topics, i, i+1)
		c.door.Fanout.Leave(t, c.member)
	}
}

// Name tells the client from all others of the cluster: frames for it alone are written to it by this name.
func (c *Client) Name() string { return c.follower().Name }

// Wait keeps the frames of topics back until release is called, see [hub.Client.Hold].
func (c *Client) Wait() (release func()) { return c.follower().Hold() }

// Context ends with the pod's serving, and bounds what the session waits for.
func (c *Client) Context() context.Context { return c.door.ctx }

// Send queues a frame. It may be called from anywhere; a connection that is closing needs none.
func (c *Client) Send(frame []byte) { _ = c.conn.Send(frame, nil) }

// Pay takes one call of what the client's user may have. The error is RATE_LIMITED where that is used up.
func (c *Client) Pay() error { return c.seat.account.Ask() }

// Renew has the connection last for as long as another token of the same user, and returns when that expires: the zero time
// where tokens do not count. After an error, which is for the client, it lasts as long as before.
func (c *Client) Renew(token string) (expires time.Time, err error) {
	who, err := c.door.Auth.Renew(c.door.ctx, token, c.User)
	if err == nil {
		err = who.Grant.Allow(c.Kind.need())
	}
	if err != nil {
		c.door.Logger.Debug("a new token was refused", "problem", err)
		return time.Time{}, err
	}
	c.conn.EndAt(who.Ends())
	if c.node != nil {
		c.node.Expires()
	}
	before := c.unwatch
	c.watch(who)
	before()
	return who.Expires, nil
}

// watch closes the connection when the token that it is open by is revoked.
func (c *Client) watch(who auth.Identity) {
	c.unwatch = who.OnRevoked(func() { c.conn.Close(conn.TokenRevoked) })
}

// end runs when the connection begins to end.
func (c *Client) end() {
	if c.node != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.door.ctx), detachTimeout)
		defer cancel()
		c.door.Holder.Detach(ctx, c.node)
		c.door.Pictures.Forget(c.node)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for _, t := range c.topics {
		c.door.Fanout.Leave(t, c.member)
	}
	c.topics = nil
	if !c.isNode() {
		c.door.Hub.RemoveClient(c.member)
	}
}

// leave gives back what the connection took of its user's limits.
func (c *Client) leave() {
	c.unwatch()
	c.seat.leave()
}
