package catalogue

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

const (
	// maxMeant is the most names whose meaning a run remembers.
	maxMeant = 1024
	// maxFound is the most tools found by searches that are offered again, as far as there is room.
	maxFound = 64
)

// Names is what a run remembers about the names of its tools: what each name that a model has used means, and which tools
// were found by a search. A name that once meant a tool never means another one in the same run. Its methods may be called
// from several goroutines.
type Names struct {
	mu      sync.Mutex
	saved   savedNames // guarded by mu
	changed bool       // since the last [Names.Changed]; guarded by mu
}

// savedNames is the form in which the names are stored.
type savedNames struct {
	// Meant has the keys of tools by the names that models used for them, where the name is not the key.
	Meant map[string]string `json:"meant,omitempty"`
	// Found has the keys of the tools that searches found, the latest first.
	Found []string `json:"found,omitempty"`
}

// LoadNames reads what [Names.Changed] returned; nil is a run without any.
func LoadNames(data []byte) (*Names, error) {
	n := &Names{}
	if len(data) > 0 {
		if err := json.Unmarshal(data, &n.saved); err != nil {
			return nil, fmt.Errorf("the tool names of a run cannot be read: %w", err)
		}
	}
	if n.saved.Meant == nil {
		n.saved.Meant = map[string]string{}
	}
	return n, nil
}

// KeyOf returns the key of the tool that a name has meant before in the run.
func (n *Names) KeyOf(name string) (key string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	key, ok = n.saved.Meant[name]
	return key, ok
}

// Bind remembers that a name means the tool with this key, unless the name has a meaning already.
func (n *Names) Bind(name, key string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.saved.Meant[name]; !ok && name != key && len(n.saved.Meant) < maxMeant {
		n.saved.Meant[name], n.changed = key, true
	}
}

// addFound remembers the tools that a search has found, the best first.
func (n *Names) addFound(keys []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	old := slices.DeleteFunc(n.saved.Found, func(key string) bool { return slices.Contains(keys, key) })
	n.saved.Found = slices.Concat(keys, old)
	n.saved.Found = n.saved.Found[:min(len(n.saved.Found), maxFound)]
	n.changed = true
}

func (n *Names) found() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.saved.Found)
}

// Changed returns the names as JSON if they have changed since it was last called, else nil.
func (n *Names) Changed() []byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.changed {
		return nil
	}
	n.changed = false
	data, _ := json.Marshal(n.saved) // strings alone: it cannot fail
	return data
}
