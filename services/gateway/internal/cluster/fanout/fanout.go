// Package fanout writes frames to web clients: to all of a user, or to the one that asked, on whichever pods they are.
//
// A pod hears of a user's frames only while it has a web client of that user.
package fanout

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
)

// inbox is how many frames may wait to be handed to web clients; writing them never blocks.
const inbox = 4 << 10

// Fanout is safe for concurrent use.
type Fanout struct {
	// Static after construction.
	bus *bus.Conn
	hub *hub.Hub
	log *slog.Logger

	frames chan *nats.Msg
	quit   chan struct{}
	work   sync.WaitGroup

	mu    sync.Mutex // also orders subscribing and unsubscribing
	users map[ids.UserID]*listening
}

type listening struct {
	sub     *nats.Subscription
	clients int
}

// New returns a Fanout that serves until Close.
func New(b *bus.Conn, h *hub.Hub, log *slog.Logger) *Fanout {
	f := &Fanout{
		bus: b, hub: h, log: log, frames: make(chan *nats.Msg, inbox), quit: make(chan struct{}),
		users: make(map[ids.UserID]*listening),
	}
	f.work.Go(f.serve)
	return f
}

// Close stops serving.
func (f *Fanout) Close() {
	close(f.quit)
	f.work.Wait()
}

// Join makes a web client reachable from every pod: when it returns, the bus sends what is for the client. Where the bus
// is away, it will once it is back.
func (f *Fanout) Join(ctx context.Context, w *hub.Web) error {
	if err := f.listen(w); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	if err := f.bus.FlushWithContext(ctx); err != nil {
		f.log.Warn("web client joined without the bus", "error", err)
	}
	return nil
}

// joinTimeout bounds the wait for the bus's word that it heard of a subscription.
const joinTimeout = 2 * time.Second

func (f *Fanout) listen(w *hub.Web) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.users[w.User]
	if l == nil {
		sub, err := f.bus.ChanSubscribe(bus.WebSubject(w.User), f.frames)
		if err != nil {
			return err
		}
		l = &listening{sub: sub}
		f.users[w.User] = l
	}
	l.clients++
	f.hub.AddWeb(w)
	return nil
}

// Leave takes a web client out again.
func (f *Fanout) Leave(w *hub.Web) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hub.RemoveWeb(w)
	l := f.users[w.User]
	if l.clients--; l.clients == 0 {
		delete(f.users, w.User)
		_ = l.sub.Unsubscribe() // fails only once the bus is closed
	}
}

// ToUser writes a frame to every web client of a user, on every pod. Pods that cannot be reached now are missed, as a
// client is that is just connecting: the error says that the bus was away.
func (f *Fanout) ToUser(user ids.UserID, frame []byte) error {
	f.write(user, "", frame)
	return f.bus.PublishAny(envelope.Web(bus.WebSubject(user), frame, ""))
}

// ToClient writes a frame to one web client of a user, wherever it is.
func (f *Fanout) ToClient(user ids.UserID, name string, frame []byte) error {
	if f.write(user, name, frame) {
		return nil
	}
	return f.bus.PublishAny(envelope.Web(bus.WebSubject(user), frame, name))
}

// write hands a frame to this pod's clients and reports whether there was one.
func (f *Fanout) write(user ids.UserID, name string, frame []byte) (found bool) {
	for _, w := range f.hub.Webs(user) {
		if name == "" || w.Name == name {
			found = true
			w.Send(frame)
		}
	}
	return found
}

func (f *Fanout) serve() {
	var parts bus.Assembler
	for {
		select {
		case <-f.quit:
			return
		case m := <-f.frames:
			frame, err := parts.Add(m, bus.DefaultMaxTotal)
			if err != nil {
				f.log.Warn("frame for web clients lost", "error", err)
				continue
			}
			if frame == nil {
				continue
			}
			if user, err := bus.WebUser(m.Subject); err == nil {
				f.write(user, envelope.WebName(m), frame)
			}
		}
	}
}
