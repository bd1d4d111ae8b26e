package witness

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

const (
	// generation is how long calls are noted in the same map, and generations how many maps are kept: what was seen is
	// remembered for at least generations-1 of them.
	generation  = 8 * time.Second
	generations = 4
	horizon     = (generations - 1) * generation
	// transit is how long a call may have been on its way to the pod that has seen it.
	transit = 2 * time.Second
	// afterDeadline is how long a call is refused after its deadline, after which its holder drops it by the pod's own clock.
	afterDeadline = time.Minute
)

// digest stands for a call's id. Two ids with the same digest may make a call's outcome unknown, but never run one twice.
type digest uint64

func digestOf(id ids.CallID) digest { return digest(xxhash.Sum64String(string(id))) }

// seen remembers which calls this pod has handed to a node, and which it must not. It is safe for concurrent use.
type seen struct {
	mu      sync.Mutex
	recent  [generations]map[digest]struct{} // newest first
	turned  time.Time                        // when the newest was begun
	refused map[digest]time.Time             // until when
}

func newSeen(now time.Time) *seen {
	s := &seen{turned: now, refused: map[digest]time.Time{}}
	for i := range s.recent {
		s.recent[i] = map[digest]struct{}{}
	}
	return s
}

// take notes a call, unless it must not run.
func (s *seen) take(id ids.CallID, now time.Time) bool {
	p := digestOf(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn(now)
	if _, ok := s.refused[p]; ok {
		return false
	}
	s.recent[0][p] = struct{}{}
	return true
}

// turn begins a new generation where it is time.
func (s *seen) turn(now time.Time) {
	if now.Sub(s.turned) < generation {
		return
	}
	copy(s.recent[1:], s.recent[:generations-1])
	s.recent[0] = make(map[digest]struct{}, len(s.recent[1])) // as many as lately: what a flood of calls took is given back
	s.turned = now
	maps.DeleteFunc(s.refused, func(_ digest, until time.Time) bool { return now.After(until) })
}

// question is what a router wants to know of a call.
type question struct {
	call     digest
	age      time.Duration // since the call was sent
	deadline time.Time
}

// deny says of each call whether it may have been seen here, and refuses the others from now on.
func (s *seen) deny(questions []question, now time.Time) (maybe []bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn(now)
	maybe = make([]bool, len(questions))
	for i, q := range questions {
		if maybe[i] = q.age > horizon-transit || s.has(q.call); !maybe[i] {
			s.refused[q.call] = q.deadline.Add(afterDeadline)
		}
	}
	return maybe
}

func (s *seen) has(p digest) bool {
	return slices.ContainsFunc(s.recent[:], func(g map[digest]struct{}) bool {
		_, ok := g[p]
		return ok
	})
}

// all returns the calls that are remembered.
func (s *seen) all() []digest {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []digest
	for _, g := range s.recent {
		all = slices.AppendSeq(all, maps.Keys(g))
	}
	return all
}
