package drain

import (
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
)

// Retirer keeps new calls of other pods away from a node.
type Retirer interface{ Retire(n *hub.Node) }

// Node is a node that leaves.
type Node struct {
	Node   *hub.Node
	Holder Retirer
}

// Retire implements [Connection].
func (n Node) Retire() <-chan struct{} {
	n.Holder.Retire(n.Node)
	return n.Node.Calls.Drain()
}

// Leave implements [Connection].
func (n Node) Leave() { n.Node.Conn.Close(conn.Draining) }

// Client is a client that is no node and leaves.
type Client struct{ Client *hub.Client }

// Retire implements [Connection]; nobody calls a client that is no node.
func (c Client) Retire() <-chan struct{} { return idle }

// Leave implements [Connection].
func (c Client) Leave() { c.Client.Conn.Close(conn.Draining) }

var idle = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()
