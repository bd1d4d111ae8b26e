package zeus

import (
	"sync"
	"time"
)

// askFor is how long a web client waits for a workflow list.
const askFor = 60 * time.Second

// askers remembers which web clients asked a node for its workflows: workflows_list does not say whom it is for, so the
// first to ask gets the first list. The zero value is ready.
type askers struct {
	mu      sync.Mutex
	waiting []asker
}

type asker struct {
	client string
	until  time.Time
}

// ask sends a question under the lock: answers come in the order in which the questions reach the node.
func (a *askers) ask(client string, send func() error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := send(); err != nil {
		return err
	}
	a.waiting = append(a.waiting, asker{client, time.Now().Add(askFor)})
	return nil
}

// next returns the web client that has waited longest, and "" where none waits.
func (a *askers) next() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.waiting) > 0 {
		first := a.waiting[0]
		if a.waiting = a.waiting[1:]; len(a.waiting) == 0 {
			a.waiting = nil
		}
		if time.Now().Before(first.until) {
			return first.client
		}
	}
	return ""
}
