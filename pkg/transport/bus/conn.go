package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// Conn is a pod's connection to the bus. It reconnects for as long as it is not closed.
//
// It does not receive its own messages (NATS "no echo"): what a pod publishes reaches the other pods only, so that a fence
// or a frame for web clients does not come back to its sender.
type Conn struct {
	*nats.Conn
	closed chan struct{}
	back   atomic.Int64 // Unix nanoseconds of the last reconnection; 0 before the first

	overruns atomic.Int64 // times the bus dropped messages for this pod
	denied   Denied

	mu          sync.Mutex
	reconnected []func()
	leaving     map[*nats.Subscription]struct{} // told to end, not ended yet
}

const (
	pingEvery = 2 * time.Second
	maxPings  = 2
)

// Connect opens a connection; the first attempt must succeed before ctx ends.
func Connect(ctx context.Context, o Options) (*Conn, error) {
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &Conn{closed: make(chan struct{}), leaving: make(map[*nats.Subscription]struct{})}
	opts, err := o.Admission()
	if err != nil {
		return nil, err
	}
	opts = append(opts,
		nats.NoEcho(),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(50*time.Millisecond),
		nats.ReconnectJitter(100*time.Millisecond, 100*time.Millisecond),
		nats.ReconnectBufSize(-1),    // fail at once instead of buffering for a cluster that is away
		nats.PingInterval(pingEvery), // a server that hangs is left after four to six seconds
		nats.MaxPingsOutstanding(maxPings),
		nats.FlusherTimeout(5*time.Second),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // nil when it is closed on purpose
				log.Warn("lost the connection to the bus", "error", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			log.Info("connected to the bus again", "server", nc.ConnectedUrlRedacted())
			c.back.Store(time.Now().UnixNano())
			c.leaveAgain()
			c.runReconnected()
		}),
		nats.ClosedHandler(func(*nats.Conn) { close(c.closed) }),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrSlowConsumer) && sub != nil {
				c.overruns.Add(1)
				log.Error("bus messages dropped: this pod does not keep up", "error", err)
				return
			}
			if !c.denied.note(err, log) {
				log.Warn("bus", "error", err)
			}
		}),
	)
	wait := 20 * time.Millisecond
	for {
		nc, err := nats.Connect(o.URL, opts...)
		if err == nil {
			c.Conn = nc
			return c, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("connect to the bus: %w", errors.Join(err, ctx.Err()))
		case <-time.After(wait):
			wait = min(2*wait, time.Second)
		}
	}
}

// OnReconnect registers f to run after each reconnection, once the subscriptions are back. f must not block.
func (c *Conn) OnReconnect(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reconnected = append(c.reconnected, f)
}

func (c *Conn) runReconnected() {
	c.mu.Lock()
	fs := c.reconnected
	c.mu.Unlock()
	for _, f := range fs {
		f()
	}
}

// Up reports whether the bus can be reached now.
func (c *Conn) Up() bool { return c.Status() == nats.CONNECTED }

// settling is how long after a reconnection others may still be on their way back.
const settling = time.Second

// Settled reports whether nobody else is likely to be on the way back to the bus: before that, that a request has no
// responders says little.
func (c *Conn) Settled() bool { return time.Since(time.Unix(0, c.back.Load())) > settling }

// FlushWithContext returns once the server has seen everything that was published or subscribed. Like a publish it fails at
// once while the bus is away, where the one of nats.go waits.
func (c *Conn) FlushWithContext(ctx context.Context) error {
	if !c.Up() {
		return nats.ErrDisconnected
	}
	return c.Conn.FlushWithContext(ctx)
}

// Close ends the connection and waits until its callbacks have ended.
func (c *Conn) Close() {
	c.Conn.Close()
	<-c.closed
}
