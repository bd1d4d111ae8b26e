package hub

import (
	"sync"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
)

// maxHeld is how many frames a client keeps back; a client that asks for more things at once than that gets the rest as it
// comes.
const maxHeld = 256

// Client is a client that this pod holds and that gets frames written to topics. Most are no nodes: web pages, for one.
type Client struct {
	// Static after construction.
	User ids.UserID
	Kind string // of client, as its dialect names it; a label of metrics
	// Name tells the clients of the whole cluster apart.
	Name   string
	Conn   Socket
	Reader codec.Reader

	// Owned by the pulse.
	ping ping

	mu    sync.Mutex
	holds int
	held  [][]byte // in the order of Send
}

// Send writes a frame that came from anywhere in the cluster. A client that is closing is no longer there to hear it.
func (c *Client) Send(frame []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds == 0 {
		_ = c.Conn.Send(frame, nil)
		return
	}
	if c.held = append(c.held, frame); len(c.held) == maxHeld {
		c.flush()
	}
}

// Hold keeps the frames of [Client.Send] back until release is called: what the client has to hear first may come from
// another pod by another way. Calling release twice is harmless.
func (c *Client) Hold() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holds++
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.holds--; c.holds == 0 {
			c.flush()
		}
	})
}

func (c *Client) flush() {
	for _, frame := range c.held {
		_ = c.Conn.Send(frame, nil)
	}
	c.held = nil
}
