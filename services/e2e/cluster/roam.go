package cluster

import (
	"sync"
	"testing"
	"time"
)

// Roamer is a node that connects again as often as its socket is closed.
type Roamer struct {
	quit, ended chan struct{}
	once        sync.Once

	mu     sync.Mutex
	closed []Closed
}

// Closed is the end of one of a roamer's connections.
type Closed struct {
	Code int
	At   time.Time
}

// Roam connects a node that answers calls, until the test ends. open makes attempt i, from 0; where it fails, the next one
// follows soon.
func Roam(t testing.TB, open func(i int) (*Client, error), answer func(ToolCall) string) *Roamer {
	r := &Roamer{quit: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		for i := 0; ; i++ {
			if s, err := open(i); err == nil {
				s.Serve(answer)
				select {
				case <-s.Done():
				case <-r.quit:
					s.Cut()
					return
				}
				r.mu.Lock()
				r.closed = append(r.closed, Closed{s.Ended(), time.Now()})
				r.mu.Unlock()
			}
			select {
			case <-time.After(20 * time.Millisecond):
			case <-r.quit:
				return
			}
		}
	}()
	t.Cleanup(r.Stop)
	return r
}

// Stop ends the connection for good.
func (r *Roamer) Stop() {
	r.once.Do(func() { close(r.quit) })
	<-r.ended
}

// Closed returns how connections ended so far.
func (r *Roamer) Closed() []Closed {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Closed(nil), r.closed...)
}
