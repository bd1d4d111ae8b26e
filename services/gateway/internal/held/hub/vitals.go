package hub

import (
	"math/rand/v2"
	"time"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
)

// Ping is when a client is pinged next, and with what. It belongs to the pod's pulse.
type Ping struct {
	// Frame is the dialect's ping; nil for a dialect without one.
	Frame []byte
	next  int64 // Unix nanoseconds; 0 before the first
}

// Due pings if it is time. The first ping comes at a random moment of the first interval, so that clients which came
// together are not pinged together.
func (p *Ping) Due(now time.Time, every time.Duration, c *conn.Conn) {
	switch t := now.UnixNano(); {
	case p.Frame == nil:
	case p.next == 0:
		p.next = t + rand.Int64N(int64(every))
	case t >= p.next:
		p.next = lastTurn(p.next, t, int64(every)) + int64(every)
		_ = c.Send(p.Frame, nil) // a closing connection needs no ping
	}
}

// BeatDue reports whether the registry should hear of the node now, and takes it that it does: after a change, and every
// so often while the node shows signs of life. The first one comes at a random moment of the interval: nodes that came
// together, as after another pod's end, would else be told of together for as long as they stay. It belongs to the pod's pulse.
func (n *Node) BeatDue(now time.Time, every time.Duration) bool {
	if n.Epoch() == 0 {
		return false
	}
	if n.beat == 0 {
		n.beat = now.UnixNano() - rand.Int64N(int64(every))
	}
	t := now.UnixNano()
	if n.news.Swap(false) || n.Unregistered.Load() {
		n.beat = t
		return true
	}
	if t < n.beat+int64(every) || n.Conn.LastSeen().UnixNano() <= n.beat {
		return false
	}
	n.beat = lastTurn(n.beat, t, int64(every))
	return true
}

// lastTurn returns the latest moment until now that is a whole number of intervals after first. To count from now instead
// would have nodes whose turns are a tick of the pulse apart meet sooner or later, since no tick is on time, and then stay
// together.
func lastTurn(first, now, every int64) int64 { return now - (now-first)%every }

// MissBeat says that the registry did not hear of the node after all.
func (n *Node) MissBeat() { n.news.Store(true) }
