package bus

import "github.com/nats-io/nats.go"

// Leave ends a subscription without losing messages that are on their way: the server is told at once, and what it sent
// before still arrives. Unsubscribe would forget the subscription before the server does, and a request that comes in
// between would be neither answered nor refused.
func (c *Conn) Leave(sub *nats.Subscription) {
	c.mu.Lock()
	c.leaving[sub] = struct{}{}
	c.mu.Unlock()
	left := func(string) {
		c.mu.Lock()
		delete(c.leaving, sub)
		c.mu.Unlock()
	}
	sub.SetClosedHandler(left)
	end := sub.Drain
	if !c.Up() {
		end = sub.Unsubscribe
	}
	if end() != nil { // only once the connection is closed
		left("")
	}
}

// leaveAgain ends what was about to end when the connection broke: the client has told the new server of it as of any
// other subscription, and would forget it without a word.
func (c *Conn) leaveAgain() {
	c.mu.Lock()
	subs := make([]*nats.Subscription, 0, len(c.leaving))
	for sub := range c.leaving {
		subs = append(subs, sub)
	}
	c.mu.Unlock()
	for _, sub := range subs {
		_ = sub.Unsubscribe() // fails only once the connection is closed
	}
}
