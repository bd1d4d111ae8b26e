package wishes

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
)

const (
	kind = "mcp-wish" // of the topics, by session
	// maxSessions and MaxURIs bound what is remembered. Of sessions those are forgotten that have subscribed to nothing for longest.
	maxSessions = 10_000
	// MaxURIs is how many resources one session may subscribe to.
	MaxURIs = 64
)

// Book is safe for concurrent use.
type Book struct {
	// Static after construction.
	bus *bus.Conn
	log *slog.Logger
	sub *nats.Subscription

	mu       sync.Mutex
	sessions map[string]map[string]bool // guarded by mu, as all below: URIs by the names of sessions
	order    []string                   // of sessions, the oldest first
}

// wish is a message between pods.
type wish struct {
	URI  string `json:"uri"`
	Over bool   `json:"over,omitempty"`
}

// New returns a Book that hears of other pods' subscriptions until Close.
func New(b *bus.Conn, log *slog.Logger) (*Book, error) {
	k := &Book{bus: b, log: log, sessions: map[string]map[string]bool{}}
	var err error
	k.sub, err = b.Subscribe(bus.AllTopics(kind), func(m *nats.Msg) {
		var w wish
		if session := bus.TopicID(m.Subject); session != "" && json.Unmarshal(m.Data, &w) == nil {
			k.set(session, w)
		}
	})
	return k, err
}

// Close stops hearing of other pods' subscriptions.
func (b *Book) Close() { _ = b.sub.Unsubscribe() } // fails where the connection is closed, and the subscription with it

// told bounds the wait until the bus has a subscription.
const told = time.Second

// Set says that a session subscribes to a resource, or does so no more, and returns once that is on its way to all pods. It reports false
// where the session has too many.
func (b *Book) Set(ctx context.Context, session, uri string, subscribed bool) bool {
	w := wish{uri, !subscribed}
	if !b.set(session, w) {
		return false
	}
	raw, err := json.Marshal(w)
	if err == nil {
		err = b.bus.Publish(bus.TopicSubject(kind, session), raw)
	}
	if err == nil {
		within, stop := context.WithTimeout(ctx, told)
		defer stop()
		err = b.bus.FlushWithContext(within)
	}
	if err != nil {
		b.log.Warn("other pods do not hear of a subscription", "error", err)
	}
	return true
}

// Has reports whether a session has subscribed to a resource.
func (b *Book) Has(session, uri string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sessions[session][uri]
}

func (b *Book) set(session string, w wish) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	uris := b.sessions[session]
	switch {
	case w.Over:
		delete(uris, w.URI)
		return true
	case uris == nil:
		if len(b.order) == maxSessions {
			delete(b.sessions, b.order[0])
			b.order = append(b.order[:0:0], b.order[1:]...)
		}
		uris = map[string]bool{}
		b.sessions[session] = uris
		b.order = append(b.order, session)
	case len(uris) >= MaxURIs && !uris[w.URI]:
		return false
	}
	uris[w.URI] = true
	return true
}
