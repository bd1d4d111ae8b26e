package connector

import (
	"errors"
	"sync"
	"time"

	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// recallFor is how long the next call is expected to run where the last one did. Each call looks before it is sent, so this
// bounds only how often that look finds something else.
const recallFor = time.Minute

// memory is where a run's calls were found to run last. Several goroutines may use it.
type memory struct {
	mu       sync.Mutex
	node     *nodev1.Node        // as it was looked at; nil for none; guarded by mu
	at       time.Time           // of that look; guarded by mu
	recalled map[string]struct{} // calls that were placed without a look, and have not looked yet; guarded by mu
}

// note remembers a node that was just looked at.
func (m *memory) note(n *nodev1.Node) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.node, m.at = nil, time.Now()
	if n.GetIsConnected() && registered(n) {
		m.node = n
	}
}

// recall returns the node; nil if none is known.
func (m *memory) recall() *nodev1.Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.at) > recallFor {
		return nil
	}
	return m.node
}

// rely notes that a call was placed without a look.
func (m *memory) rely(call string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.recalled == nil {
		m.recalled = map[string]struct{}{}
	}
	m.recalled[call] = struct{}{}
}

// looked says that a call has looked, and reports whether it was placed without.
func (m *memory) looked(call string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, was := m.recalled[call]
	delete(m.recalled, call)
	return was
}

// moved turns the failure of a call that was placed without a look, and would run elsewhere, into a *tool.Moved, and forgets
// the node.
func (m *memory) moved(err error) error {
	m.note(nil)
	var failure *tool.Failure
	if !errors.As(err, &failure) {
		failure = unsent("", "where the call runs has to be chosen")
	}
	return &tool.Moved{Failure: *failure}
}

// Recall implements [tool.Recalling].
func (t *nodeTool) Recall() (tool.Place, bool) {
	n := t.memory.recall()
	if n == nil {
		return tool.Place{}, false
	}
	return placeOf(n), true
}

// Rely implements [tool.Recalling].
func (t *nodeTool) Rely(callID string) { t.memory.rely(callID) }

func placeOf(n *nodev1.Node) tool.Place {
	return tool.Place{Node: n.GetInfo().GetNodeId(), Mark: mark(n)}
}
