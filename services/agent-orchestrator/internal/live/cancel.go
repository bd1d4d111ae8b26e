package live

import (
	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// OnCancel sets what happens when another pod was asked to cancel a run: f may know that it runs here. The store has the
// truth; this spares the wait until the run's lease is renewed. f must not block.
func (h *Hub) OnCancel(f func(store.Ref)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.onCancel = f
}

// PokeCancel tells the other pods that a run's end was asked for. It does not block on the bus's answer.
func (h *Hub) PokeCancel(ref store.Ref) {
	if h.bus != nil {
		_ = h.bus.Publish(bus.CancelSubject(ref.User, ref.Session), nil) // the next renewal tells
	}
}

func (h *Hub) heardCancel(m *nats.Msg) {
	user, session, err := bus.ParseCancel(m.Subject)
	if err != nil {
		h.log.Warn("a message about a cancelled run cannot be read", "error", err)
		return
	}
	h.mu.Lock()
	f := h.onCancel
	h.mu.Unlock()
	if f != nil {
		f(store.Ref{User: ids.UserID(user), Session: session})
	}
}
