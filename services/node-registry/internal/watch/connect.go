package watch

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
)

// Connect returns a connection for a [Feed]; o has a Logger, and denied counts what the bus does not allow. It does not
// wait for the servers: a registry answers without them, only nobody hears of changes.
//
// It is not one of [bus.Connect]: a watcher may be on the replica that announces, so the connection hears itself; and an
// event that is a second late is better than none, so it buffers while it reconnects.
//
// The second result closes the connection and waits for its callbacks.
func Connect(o bus.Options, denied *bus.Denied) (*nats.Conn, func(), error) {
	log, closed := o.Logger, make(chan struct{})
	opts, err := o.Admission()
	if err != nil {
		return nil, nil, err
	}
	opts = append(opts,
		nats.ClosedHandler(func(*nats.Conn) { close(closed) }),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(100*time.Millisecond),
		nats.ReconnectJitter(100*time.Millisecond, 100*time.Millisecond),
		nats.Timeout(2*time.Second),
		nats.PingInterval(5*time.Second),
		nats.MaxPingsOutstanding(2),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // nil: we closed it
				log.Warn("lost the connection to the bus", "error", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) { log.Info("connected to the bus again", "server", nc.ConnectedUrlRedacted()) }),
		nats.ErrorHandler(denied.Handler(log)),
	)
	nc, err := nats.Connect(o.URL, opts...)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to the bus: %w", err)
	}
	return nc, func() {
		nc.Close()
		<-closed
	}, nil
}
