package watch

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
)

// Connect returns a connection for a [Feed]. It does not wait for the servers: a registry answers without them, only
// nobody hears of changes.
//
// It is not one of [bus.Connect]: a watcher may be on the replica that announces, so the connection hears itself; and an
// event that is a second late is better than none, so it buffers while it reconnects.
//
// The second result closes the connection and waits for its callbacks.
func Connect(url, name, credsFile string, log *slog.Logger) (*nats.Conn, func(), error) {
	closed := make(chan struct{})
	opts := []nats.Option{
		nats.ClosedHandler(func(*nats.Conn) { close(closed) }),
		nats.Name(name),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(100 * time.Millisecond),
		nats.ReconnectJitter(100*time.Millisecond, 100*time.Millisecond),
		nats.Timeout(2 * time.Second),
		nats.PingInterval(5 * time.Second),
		nats.MaxPingsOutstanding(2),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // nil: we closed it
				log.Warn("bus lost", "error", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) { log.Info("bus back", "server", nc.ConnectedUrlRedacted()) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Warn("bus", "error", err) }),
	}
	if credsFile != "" {
		opts = append(opts, nats.UserCredentials(credsFile))
	}
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		return nil, nil, fmt.Errorf("connect to the bus: %w", err)
	}
	return nc, func() {
		nc.Close()
		<-closed
	}, nil
}
