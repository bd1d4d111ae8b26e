package toolbox

import (
	"log/slog"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
)

// Listener hears which configurations were saved or removed (package mcp).
type Listener interface {
	// Changed is told of one configuration.
	Changed(user ids.UserID, id string)
	// Missed says that others may have changed unheard.
	Missed()
}

// Changes tells all orchestrators which configurations were saved or removed. It is safe for concurrent use.
type Changes struct {
	// static after construction
	bus  *bus.Conn // nil: this pod is alone
	to   Listener
	log  *slog.Logger
	subs *nats.Subscription
}

// NewChanges returns Changes, which tells a listener of all of them. b is nil where the pod is alone; the caller closes it after Close.
func NewChanges(b *bus.Conn, to Listener, log *slog.Logger) (*Changes, error) {
	c := &Changes{bus: b, to: to, log: obs.OrDiscard(log)}
	if b == nil {
		return c, nil
	}
	var err error
	if c.subs, err = b.Subscribe(bus.AllSaved, c.hear); err != nil {
		return nil, err
	}
	b.OnReconnect(to.Missed)
	return c, nil
}

// Close stops hearing of other pods' changes.
func (c *Changes) Close() {
	if c.subs != nil {
		_ = c.subs.Unsubscribe() // fails only where the connection is closed
	}
}

func (c *Changes) hear(m *nats.Msg) {
	user, err := bus.ParseSaved(m.Subject)
	if err != nil {
		c.log.Warn("a message about a saved configuration cannot be read", "error", err)
		return
	}
	c.to.Changed(user, string(m.Data))
}

// Announce says that a configuration was made, changed or removed. Pods that do not hear of it go on with connections by the old one
// only for calls that have begun, and until nobody has used them for some minutes.
func (c *Changes) Announce(user ids.UserID, id string) {
	if c == nil {
		return
	}
	c.to.Changed(user, id)
	if c.bus == nil {
		return
	}
	if err := c.bus.Publish(bus.SavedSubject(user), []byte(id)); err != nil {
		c.log.Warn("other pods do not hear of a saved configuration", "error", err)
	}
}
