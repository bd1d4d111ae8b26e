package hub

import (
	"math/rand/v2"
	"time"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
)

// ping is when a client is pinged next.
type ping struct {
	next int64 // Unix nanoseconds; 0 before the first
}

// ifDue pings a client if it is time. The first ping comes at a random moment of the first interval, so that clients which
// connected together are not pinged together.
func (p *ping) ifDue(now time.Time, every time.Duration, s Socket, r codec.Reader) {
	switch t := now.UnixNano(); {
	case p.next == 0:
		p.next = t + rand.Int64N(int64(every))
	case t >= p.next:
		p.next = lastTurn(p.next, t, int64(every)) + int64(every)
		if frame := r.Ping(now); frame != nil {
			_ = s.Send(frame, nil) // a closing connection needs no ping
		}
	}
}

// PingIfDue pings the node if it is time. It belongs to the pod's pulse.
func (n *Node) PingIfDue(now time.Time, every time.Duration) {
	n.ping.ifDue(now, every, n.Conn, n.Codec)
}

// PingIfDue pings the client if it is time. It belongs to the pod's pulse.
func (c *Client) PingIfDue(now time.Time, every time.Duration) {
	c.ping.ifDue(now, every, c.Conn, c.Reader)
}

// BeatDue reports whether a heartbeat of the node should go to the registry now, and counts it as sent: after a change, and every so
// often while the node shows signs of life. The first heartbeat comes at a random moment of the interval: otherwise nodes that
// connected together, as after another pod's end, would be reported together for as long as they stay. It belongs to the
// pod's pulse.
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

// lastTurn returns the latest moment until now that is a whole number of intervals after first. Counting from now instead
// would bring nodes together whose turns are one tick of the pulse apart, since no tick is on time, and they would stay
// together.
func lastTurn(first, now, every int64) int64 { return now - (now-first)%every }

// MissBeat notes that the heartbeat did not reach the registry, so that it is sent again.
func (n *Node) MissBeat() { n.news.Store(true) }
