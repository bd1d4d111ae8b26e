package toolclient

import (
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// Up counts the gateways that take calls.
func Up(c *Client) (n int) {
	c.pool.mu.Lock()
	defer c.pool.mu.Unlock()
	for _, p := range c.pool.peers {
		if p.stream != nil {
			n++
		}
	}
	return n
}

// Spend leaves the client so many second tries, for the next moment.
func Spend(c *Client, left float64) {
	c.budget.mu.Lock()
	defer c.budget.mu.Unlock()
	c.budget.have = left
}

// Look makes the client look its targets up now.
func Look(c *Client) { c.pool.nudge <- struct{}{} }

// Decode reads a response as the client's codec does.
func Decode(data []byte) (*toolv1.CallsResponse, error) {
	var r response
	if err := r.decode(data); err != nil {
		return nil, err
	}
	out := &toolv1.CallsResponse{Id: r.id}
	switch {
	case r.progress != nil:
		out.Event = &toolv1.CallsResponse_Progress{Progress: r.progress}
	case r.answer != nil:
		out.Event = &toolv1.CallsResponse_Answer{Answer: r.answer}
	case r.failure != nil:
		out.Event = &toolv1.CallsResponse_Failure{Failure: r.failure}
	}
	return out, nil
}

// Writing reports whether the client is writing the nth call, or has, and has nothing behind it.
func Writing(c *Client, nth uint64) bool {
	s, _ := c.pool.pick(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastID == nth && len(s.outbox) == 0
}

// Waiting counts the requests that are not written yet.
func Waiting(c *Client) int {
	s, _ := c.pool.pick(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.outbox)
}
