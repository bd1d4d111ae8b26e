package relay

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

const (
	kind = "mcp" // of the topics
	// inbox is how many messages may wait to be read; more are lost.
	inbox = 4 << 10
	// idle is how long a session is followed after its last call, and sweepEvery how often such are looked for.
	idle       = 30 * time.Second
	sweepEvery = 10 * time.Second
	// joinTimeout bounds the wait for the bus to confirm a subscription.
	joinTimeout = 2 * time.Second
)

// Relay is safe for concurrent use.
type Relay struct {
	// Static after construction.
	bus      *bus.Conn
	log      *slog.Logger
	messages chan *nats.Msg
	quit     chan struct{}
	work     sync.WaitGroup

	mu       sync.Mutex
	sessions map[string]*followed // by their names
}

// followed is a session that has, or had, calls here; guarded by the relay's mu.
type followed struct {
	sub   *nats.Subscription // nil where the bus would not have it
	used  time.Time
	calls map[string][]*entry // by the id of the request
	waits map[string]chan []byte
}

// entry is one call.
type entry struct{ cancel func() }

// New returns a Relay that serves until Close.
func New(b *bus.Conn, log *slog.Logger) *Relay {
	r := &Relay{bus: b, log: log, messages: make(chan *nats.Msg, inbox), quit: make(chan struct{}), sessions: make(map[string]*followed)}
	r.work.Go(r.serve)
	return r
}

// Close stops serving.
func (r *Relay) Close() {
	close(r.quit)
	r.work.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.sessions {
		r.drop(name)
	}
}

// Open says that a session has a call open here, whose request has that id (JSON). cancel is called when its client cancels it, until
// leave is.
func (r *Relay) Open(session string, id []byte, cancel func()) (leave func()) {
	e, key := &entry{cancel}, string(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.follow(session)
	s.calls[key] = append(s.calls[key], e)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		s.used = time.Now()
		left := s.calls[key][:0:0]
		for _, other := range s.calls[key] {
			if other != e {
				left = append(left, other)
			}
		}
		if s.calls[key] = left; len(left) == 0 {
			delete(s.calls, key)
		}
	}
}

// Await waits for the answer to a request of ours of that id (JSON): its result, or nil for an error. Once it returns, an answer
// that comes in at any pod is heard here, until leave is called.
func (r *Relay) Await(ctx context.Context, session string, id []byte) (answers <-chan []byte, leave func()) {
	ch, key := make(chan []byte, 1), string(id)
	s := r.await(session, key, ch)
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	if err := r.bus.FlushWithContext(ctx); err != nil {
		r.log.Warn("a session is followed without the bus", "error", err)
	}
	return ch, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		s.used = time.Now()
		delete(s.waits, key)
	}
}

func (r *Relay) await(session, key string, ch chan []byte) *followed {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.follow(session)
	s.waits[key] = ch
	return s
}

// follow hears of a session. It is called with mu held.
func (r *Relay) follow(session string) *followed {
	s := r.sessions[session]
	if s == nil {
		s = &followed{calls: make(map[string][]*entry), waits: make(map[string]chan []byte)}
		r.sessions[session] = s
	}
	if s.sub == nil {
		s.sub, _ = r.bus.ChanSubscribe(bus.TopicSubject(kind, session), r.messages) // fails only once the bus is closed
	}
	s.used = time.Now()
	return s
}

// Cancelled says that a client cancels a request.
func (r *Relay) Cancelled(session string, id []byte) {
	if r.cancel(session, string(id)) {
		return
	}
	r.publish(session, append(append([]byte(`{"cancel":`), id...), '}'))
}

// Answered brings the answer to a request of ours: result is nil for an error.
func (r *Relay) Answered(session string, id, result []byte) {
	if r.answer(session, string(id), result) {
		return
	}
	b := append(append([]byte(`{"answer":`), id...), `,"result":`...)
	if result == nil {
		result = []byte("null")
	}
	r.publish(session, append(append(b, result...), '}'))
}

func (r *Relay) publish(session string, message []byte) {
	if err := r.bus.Publish(bus.TopicSubject(kind, session), message); err != nil {
		r.log.Warn("what a client says of a call does not reach other pods", "error", err)
	}
}

// cancel cancels the calls of that id here, and reports whether there were any.
func (r *Relay) cancel(session, id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sessions[session]
	if s == nil {
		return false
	}
	for _, e := range s.calls[id] {
		e.cancel()
	}
	return len(s.calls[id]) > 0
}

// answer hands an answer to who waits for it here, and reports whether somebody did.
func (r *Relay) answer(session, id string, result []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sessions[session]
	if s == nil || s.waits[id] == nil {
		return false
	}
	select {
	case s.waits[id] <- result:
	default: // it has one already
	}
	return true
}

// serve hears what other pods publish, and forgets sessions.
func (r *Relay) serve() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case m := <-r.messages:
			r.heard(m)
		case now := <-tick.C:
			r.sweep(now)
		case <-r.quit:
			return
		}
	}
}

func (r *Relay) heard(m *nats.Msg) {
	var cancelled, answered, result []byte
	jsonrpc.Members(m.Data, func(name, value []byte) {
		switch string(name) {
		case "cancel":
			cancelled = value
		case "answer":
			answered = value
		case "result":
			result = value
		}
	})
	session := bus.TopicID(m.Subject)
	if cancelled != nil {
		r.cancel(session, string(cancelled))
	}
	if answered != nil {
		if jsonrpc.IsNull(result) {
			result = nil
		}
		r.answer(session, string(answered), result)
	}
}

func (r *Relay) sweep(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, s := range r.sessions {
		if len(s.calls) == 0 && len(s.waits) == 0 && now.Sub(s.used) > idle {
			r.drop(name)
		}
	}
}

// drop is called with mu held.
func (r *Relay) drop(name string) {
	if sub := r.sessions[name].sub; sub != nil {
		_ = sub.Unsubscribe() // fails where the connection is closed, and the subscription with it
	}
	delete(r.sessions, name)
}
