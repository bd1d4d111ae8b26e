package zeus

import (
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
)

// askFor is how long a web client waits for a workflow list.
const askFor = 60 * time.Second

// askers remembers which web clients asked a node for its workflows: workflows_list does not say whom it is for, so the
// first to ask gets the first list.
type askers struct {
	mu      sync.Mutex
	waiting map[*hub.Node][]asker
}

type asker struct {
	client string
	until  time.Time
}

// Ask sends a web client's question to a node of this pod and remembers that it waits for the workflows.
func (z *Zeus) Ask(n *hub.Node, client string, send func() error) error {
	return z.askers.ask(n, client, send)
}

// ask sends under the lock: answers come in the order in which the questions reach the node.
func (a *askers) ask(n *hub.Node, client string, send func() error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := send(); err != nil {
		return err
	}
	if a.waiting == nil {
		a.waiting = make(map[*hub.Node][]asker)
	}
	a.waiting[n] = append(a.waiting[n], asker{client, time.Now().Add(askFor)})
	return nil
}

// next returns the web client that has waited longest, and "" where none waits.
func (a *askers) next(n *hub.Node) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for w := a.waiting[n]; len(w) > 0; w = a.waiting[n] {
		if a.waiting[n] = w[1:]; len(w) == 1 {
			delete(a.waiting, n)
		}
		if time.Now().Before(w[0].until) {
			return w[0].client
		}
	}
	return ""
}

func (a *askers) forget(n *hub.Node) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, n)
}
