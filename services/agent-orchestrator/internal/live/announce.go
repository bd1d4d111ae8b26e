package live

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// announceEvery is how often a pod says again which sessions it follows. A pod that has just started has not heard of them
// before; until then followers find events in the store.
const announceEvery = 2 * time.Second

// maxAnnouncement bounds one message, so that it is taken by every bus.
const maxAnnouncement = 64 << 10

// announcer tells the other pods which sessions this one follows: new ones at once, all of them every announceEvery and when
// the bus is back.
type announcer struct {
	hub  *Hub
	wake chan struct{} // has a token while there may be something to announce
	quit chan struct{} // closed by close
	done chan struct{} // closed when run has returned

	mu    sync.Mutex
	fresh []store.Ref // followed, and not yet announced; guarded by mu
	all   bool        // announce all; guarded by mu
}

func newAnnouncer(h *Hub) *announcer {
	a := &announcer{hub: h, wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	h.bus.OnReconnect(a.again)
	go a.run()
	return a
}

// add announces a session soon. The pod must have subscribed to its events.
func (a *announcer) add(ref store.Ref) {
	a.mu.Lock()
	a.fresh = append(a.fresh, ref)
	a.mu.Unlock()
	a.notify()
}

// again announces all sessions soon.
func (a *announcer) again() {
	a.mu.Lock()
	a.all = true
	a.mu.Unlock()
	a.notify()
}

func (a *announcer) notify() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

func (a *announcer) close() {
	close(a.quit)
	<-a.done
}

func (a *announcer) run() {
	defer close(a.done)
	round := time.NewTicker(announceEvery)
	defer round.Stop()
	for {
		select {
		case <-a.quit:
			return
		case <-a.wake:
		case <-round.C:
			a.hub.interest.nextRound()
			a.again()
			continue
		}
		a.mu.Lock()
		refs, all := a.fresh, a.all
		a.fresh, a.all = nil, false
		a.mu.Unlock()
		if all {
			refs = a.hub.followed()
		}
		for _, m := range announcements(refs) {
			_ = a.hub.bus.Publish(bus.FollowsSubject, m) // it is said again
		}
	}
}

// followed returns the sessions that somebody on this pod follows.
func (h *Hub) followed() []store.Ref {
	h.mu.Lock()
	defer h.mu.Unlock()
	refs := make([]store.Ref, 0, len(h.topics))
	for ref := range h.topics {
		refs = append(refs, ref)
	}
	return refs
}

// heardFollows handles an announcement of another pod.
func (h *Hub) heardFollows(m *nats.Msg) {
	refs, err := readAnnouncement(m.Data)
	if err != nil {
		h.log.Warn("a message about followed sessions cannot be read", "error", err)
		return
	}
	for _, ref := range refs {
		if h.interest.announced(ref) {
			h.out.put(batch{ref: ref})
		}
	}
}

// announcements are messages that name sessions: user and session, each after its length as a varint.
func announcements(refs []store.Ref) (messages [][]byte) {
	var m []byte
	for _, ref := range refs {
		if len(m)+len(ref.User)+len(ref.Session)+2*binary.MaxVarintLen32 > maxAnnouncement {
			messages, m = append(messages, m), nil
		}
		m = binary.AppendUvarint(m, uint64(len(ref.User)))
		m = append(m, ref.User...)
		m = binary.AppendUvarint(m, uint64(len(ref.Session)))
		m = append(m, ref.Session...)
	}
	if len(m) > 0 {
		messages = append(messages, m)
	}
	return messages
}

func readAnnouncement(message []byte) (refs []store.Ref, err error) {
	next := func() string {
		size, n := binary.Uvarint(message)
		if n <= 0 || size > uint64(len(message)-n) {
			err, message = errMessage, nil
			return ""
		}
		text := string(message[n : n+int(size)])
		message = message[n+int(size):]
		return text
	}
	for len(message) > 0 {
		ref := store.Ref{User: ids.UserID(next()), Session: ids.SessionID(next())}
		if err != nil {
			return nil, err
		}
		refs = append(refs, ref)
	}
	return refs, nil
}
