package edge

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// newcomersLimit is how long a server that stops gives connections whose first request has not been read.
	newcomersLimit = time.Second
	newcomersPoll  = 5 * time.Millisecond
)

// newcomers are the connections whose first request has not been read. When a server stops, net/http closes them without an
// answer, and the kernel resets those that are not accepted yet. A client that has sent its request by then does not know
// what became of it.
type newcomers struct {
	n atomic.Int64 // of conns, so that the requests of other connections need no lock

	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

// changed is the server's ConnState.
func (n *newcomers) changed(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		n.mu.Lock()
		defer n.mu.Unlock()
		n.conns[c] = struct{}{}
		n.n.Store(int64(len(n.conns)))
	case http.StateClosed, http.StateHijacked:
		n.forget(c)
	}
}

// context lets seen find the connection of a request.
func (n *newcomers) context(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

type connKey struct{}

// seen stands before every handler: net/http still closes without an answer what it has read when it is told to stop.
func (n *newcomers) seen(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.n.Load() > 0 {
			c, _ := r.Context().Value(connKey{}).(net.Conn)
			n.forget(c)
		}
		next.ServeHTTP(w, r)
	})
}

func (n *newcomers) forget(c net.Conn) {
	if n.n.Load() == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.conns, c)
	n.n.Store(int64(len(n.conns)))
}

// last waits until every connection that was made before it was called has had its first request read, and lets no other be
// made. It gives up after newcomersLimit, or where the system cannot tell.
func (n *newcomers) last(ctx context.Context, ln *net.TCPListener) {
	if noNewConnections(ln) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, newcomersLimit)
	defer cancel()
	tick := time.NewTicker(newcomersPoll)
	defer tick.Stop()
	// Between accepting and StateNew a connection is nowhere, so nobody has to be seen twice.
	for quiet := 0; quiet < 2; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		quiet++
		if waiting, err := notAccepted(ln); err != nil {
			return
		} else if waiting > 0 || n.n.Load() > 0 {
			quiet = 0
		}
	}
}
