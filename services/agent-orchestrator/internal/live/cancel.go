package live

import (
	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// OnCancel sets the function that is called when another pod was asked to cancel a run, which may run on this pod. The store
// decides whether it is cancelled; without this call the pod would learn of it only when it renews the run's lease. f must
// not block.
func (h *Hub) OnCancel(f func(store.Ref)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.onCancel = f
}

// PokeCancel tells the other pods that a run is to be cancelled. It does not wait for the bus's answer.
func (h *Hub) PokeCancel(ref store.Ref) {
	if h.bus != nil {
		_ = h.bus.Publish(bus.CancelSubject(ref.User, ref.Session), nil) // the next renewal of the lease finds it out
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
