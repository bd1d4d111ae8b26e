package fanout

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
)

// inbox is how many frames may wait to be handed to clients; writing them never blocks.
const inbox = 4 << 10

// Fanout is safe for concurrent use.
type Fanout struct {
	// Static after construction.
	bus *bus.Conn
	log *slog.Logger

	frames chan *nats.Msg
	quit   chan struct{}
	work   sync.WaitGroup

	mu     sync.RWMutex // also orders subscribing and unsubscribing
	topics map[Topic]*following
}

// following is a topic that clients of this pod follow. followers is replaced, never changed: who reads it needs no lock.
type following struct {
	sub       *nats.Subscription
	followers []*hub.Client
}

// New returns a Fanout that serves until Close.
func New(b *bus.Conn, log *slog.Logger) *Fanout {
	f := &Fanout{
		bus: b, log: log, frames: make(chan *nats.Msg, inbox), quit: make(chan struct{}), topics: make(map[Topic]*following),
	}
	f.work.Go(f.serve)
	return f
}

// Close stops serving.
func (f *Fanout) Close() {
	close(f.quit)
	f.work.Wait()
}

// Join has a client follow a topic, once: when it returns, frames that any pod writes to the topic reach the client. Where the
// bus is away, they will once it is back.
func (f *Fanout) Join(ctx context.Context, t Topic, c *hub.Client) error {
	if err := f.listen(t, c); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	if err := f.bus.FlushWithContext(ctx); err != nil {
		f.log.Warn("a client follows a topic without the bus", "error", err)
	}
	return nil
}

// joinTimeout bounds the wait for the bus to confirm a subscription.
const joinTimeout = 2 * time.Second

func (f *Fanout) listen(t Topic, c *hub.Client) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.topics[t]
	if l == nil {
		sub, err := f.bus.ChanSubscribe(t.subject, f.frames)
		if err != nil {
			return err
		}
		l = &following{sub: sub}
		f.topics[t] = l
	}
	l.followers = append(slices.Clip(l.followers), c)
	return nil
}

// Leave ends what Join began; a client that does not follow the topic changes nothing.
func (f *Fanout) Leave(t Topic, c *hub.Client) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.topics[t]
	if l == nil {
		return
	}
	l.followers = slices.DeleteFunc(slices.Clone(l.followers), func(other *hub.Client) bool { return other == c })
	if len(l.followers) == 0 {
		delete(f.topics, t)
		_ = l.sub.Unsubscribe() // fails only once the bus is closed
	}
}

// ToAll writes a frame to every client that follows a topic, on every pod. Pods that cannot be reached now are missed, and so
// is a client that is just connecting: the error says that the bus was away.
func (f *Fanout) ToAll(t Topic, frame []byte) error {
	f.write(t, "", frame)
	return f.bus.PublishAny(envelope.Topic(t.subject, frame, ""))
}

// ToOne writes a frame to the client of that name that follows the topic, wherever it is.
func (f *Fanout) ToOne(t Topic, name string, frame []byte) error {
	if f.write(t, name, frame) {
		return nil
	}
	return f.bus.PublishAny(envelope.Topic(t.subject, frame, name))
}

// write hands a frame to this pod's clients and reports whether there was one.
func (f *Fanout) write(t Topic, name string, frame []byte) (found bool) {
	for _, c := range f.followers(t) {
		if name == "" || c.Name == name {
			found = true
			c.Send(frame)
		}
	}
	return found
}

func (f *Fanout) followers(t Topic) []*hub.Client {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if l := f.topics[t]; l != nil {
		return l.followers
	}
	return nil
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
				f.log.Warn("a frame for clients is lost", "error", err)
				continue
			}
			if frame != nil {
				f.write(Topic{m.Subject}, envelope.ClientName(m), frame)
			}
		}
	}
}
