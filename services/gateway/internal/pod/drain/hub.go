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

// Web is a web client that leaves.
type Web struct{ Web *hub.Web }

// Retire implements [Connection]; nobody calls a web client.
func (w Web) Retire() <-chan struct{} { return idle }

// Leave implements [Connection].
func (w Web) Leave() { w.Web.Conn.Close(conn.Draining) }

var idle = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()
