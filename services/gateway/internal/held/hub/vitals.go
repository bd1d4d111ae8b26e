package hub

import (
	"math/rand/v2"
	"time"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
)

// Vitals say how the pulse looks after clients.
type Vitals struct {
	// PingEvery is how long a client may say nothing until it is pinged, and pinged again.
	PingEvery time.Duration
	// SilenceLimit ends the connection of a node that said nothing for so long.
	SilenceLimit time.Duration
	// Sweep keeps the calls alive that are open at a node.
	Sweep func(n *Node, now time.Time)
}

// answerWithin is how soon after a ping a frame counts as the answer to it. An answer is no reason to ping later than at the
// client's turn: of clients that were pinged together, those would stay together for ever.
const answerWithin = 2 * time.Second

// ping is when a client is pinged next.
type ping struct {
	next int64 // Unix nanoseconds; 0 before the first look
	last int64 // the turn before that; 0 before the first ping
}

// ifDue pings a client that has said nothing since its last turn: one that speaks by itself shows that it is there, and is awake. The
// first ping comes at a random moment of the first interval, so that clients which connected together are not pinged together. It
// returns when to look again, in Unix nanoseconds.
func (p *ping) ifDue(now time.Time, every time.Duration, s Socket, r codec.Reader) int64 {
	t := now.UnixNano()
	if p.next == 0 {
		p.next = t + rand.Int64N(int64(every))
	}
	if t < p.next {
		return p.next
	}
	if heard := s.LastSeen().UnixNano(); p.last != 0 && heard > p.last+int64(answerWithin) && heard+int64(every) > t {
		p.last, p.next = heard, heard+int64(every)
		return p.next
	}
	p.last = lastTurn(p.next, t, int64(every))
	p.next = p.last + int64(every)
	if frame := r.Ping(now); frame != nil {
		_ = s.Send(frame, nil) // a closing connection needs no ping
	}
	return p.next
}

// Look looks after the node if it is its turn: it ends the node if it is silent or its token is over, pings it, and keeps its calls
// alive. It belongs to the pod's pulse.
func (n *Node) Look(now time.Time, v Vitals) {
	n.vitals.begin()
	silent := n.Conn.LastSeen().Add(v.SilenceLimit)
	if now.After(silent) {
		n.Conn.Close(conn.NoHeartbeat)
		n.vitals.end(busy)
		return
	}
	if n.Conn.EndIfOver(now) {
		n.vitals.end(busy)
		return
	}
	next := min(n.ping.ifDue(now, v.PingEvery, n.Conn, n.Codec), silent.UnixNano()+1)
	if ends := n.Conn.Ends(); !ends.IsZero() {
		next = min(next, ends.UnixNano())
	}
	if n.active.Load() {
		v.Sweep(n, now)
		if n.Calls.Idle() {
			n.active.Store(false) // [Node.Start] sets it once its call is there
		} else {
			next = nextTick(now)
		}
	}
	n.vitals.end(next)
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
	n.tell.begin()
	due, next := n.beatDue(now, every)
	n.tell.end(next)
	return due
}

// beatDue also returns when to ask again.
func (n *Node) beatDue(now time.Time, every time.Duration) (due bool, next int64) {
	if n.Epoch() == 0 {
		return false, busy // its registration makes it the node's turn
	}
	t := now.UnixNano()
	if n.beat == 0 {
		n.beat = t - rand.Int64N(int64(every))
	}
	switch {
	case n.news.Swap(false):
		n.beat = t
		due = true
	case n.Unregistered.Load():
		n.beat = t
		return true, nextTick(now)
	case t < n.beat+int64(every):
	case n.Conn.LastSeen().UnixNano() <= n.beat:
		return false, nextTick(now)
	default:
		n.beat = lastTurn(n.beat, t, int64(every))
		due = true
	}
	return due, n.beat + int64(every)
}

// lastTurn returns the latest moment until now that is a whole number of intervals after first. Counting from now instead
// would bring nodes together whose turns are one tick of the pulse apart, since no tick is on time, and they would stay
// together.
func lastTurn(first, now, every int64) int64 { return now - (now-first)%every }

// MissBeat notes that the heartbeat did not reach the registry, so that it is sent again.
func (n *Node) MissBeat() {
	n.news.Store(true)
	n.tell.soon()
}
