package testkit

import (
	"maps"
	"slices"
	"sync"
)

// used remembers which source served what, for Main's report.
var used = &report{}

// report is a set of "kind = source" lines.
type report struct {
	mu  sync.Mutex
	set map[string]bool
}

func (r *report) add(kind, source string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.set == nil {
		r.set = map[string]bool{}
	}
	r.set[kind+" = "+source] = true
}

func (r *report) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.set))
}
