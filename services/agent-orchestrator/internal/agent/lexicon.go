package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

const (
	// maxMeant bounds how many names a run remembers the meaning of.
	maxMeant = 1024
	// maxFound is how many tools that were looked up stay on offer, as far as there is room.
	maxFound = 64
)

// lexicon is what names mean in a run, and which tools were looked up in it. A name that once meant a tool never means
// another one in the same run, whatever comes and goes. It is kept with the run, and safe for concurrent use.
type lexicon struct {
	mu      sync.Mutex
	words   words
	changed bool
}

// words are a lexicon as it is kept.
type words struct {
	// Meant has the keys of tools by what models called them, where that is not the key.
	Meant map[string]string `json:"meant,omitempty"`
	// Found has the keys of the tools that were looked up, the last first.
	Found []string `json:"found,omitempty"`
}

func loadLexicon(data []byte) (*lexicon, error) {
	l := &lexicon{}
	if len(data) > 0 {
		if err := json.Unmarshal(data, &l.words); err != nil {
			return nil, fmt.Errorf("the names of a run cannot be read: %w", err)
		}
	}
	if l.words.Meant == nil {
		l.words.Meant = map[string]string{}
	}
	return l, nil
}

// meaning returns the key of the tool that a name has meant before.
func (l *lexicon) meaning(name string) (key string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key, ok = l.words.Meant[name]
	return key, ok
}

// mean remembers what a name means.
func (l *lexicon) mean(name, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.words.Meant[name]; !ok && name != key && len(l.words.Meant) < maxMeant {
		l.words.Meant[name], l.changed = key, true
	}
}

// find remembers that tools were looked up, the best first.
func (l *lexicon) find(keys []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := slices.DeleteFunc(l.words.Found, func(key string) bool { return slices.Contains(keys, key) })
	l.words.Found = slices.Concat(keys, old)
	l.words.Found = l.words.Found[:min(len(l.words.Found), maxFound)]
	l.changed = true
}

func (l *lexicon) found() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.words.Found)
}

// take returns the lexicon as JSON where it has changed since the last take, else nil.
func (l *lexicon) take() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.changed {
		return nil
	}
	l.changed = false
	data, _ := json.Marshal(l.words) // of strings
	return data
}
