package agent

import (
	"sync"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// places counts the runs that this pod works on, or is about to, against its limits. Its methods may be called from several
// goroutines.
type places struct {
	// static
	limit   int // of all runs
	perUser int // of one user's; 0 for no limit

	taken sync.WaitGroup // Engine.Stop waits until all are given back

	mu     sync.Mutex
	count  int                // guarded by mu
	users  map[ids.UserID]int // the same by user; guarded by mu
	closed bool               // guarded by mu
}

func newPlaces(cfg Config) *places {
	return &places{limit: cfg.MaxRuns, perUser: cfg.RunsPerUser, users: make(map[ids.UserID]int)}
}

// reserve takes a place for a new run of a user, which leave gives back. full says that the user has more runs than allowed
// on this pod alone. The error is AGENT_UNAVAILABLE.
func (p *places) reserve(user ids.UserID) (full bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false, errs.New(errs.AgentUnavailable, "this pod is stopping")
	}
	if p.count >= p.limit {
		return false, errs.New(errs.AgentUnavailable, "this pod has as many runs as it may have")
	}
	p.add(user)
	// The store counts the runs that have begun; it does not know of those that are about to begin here.
	return p.perUser > 0 && p.users[user] > p.perUser, nil
}

// take takes a place for a run that was adopted, even above the limit.
func (p *places) take(user ids.UserID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add(user)
}

// add takes a place, with mu held.
func (p *places) add(user ids.UserID) {
	p.count++
	p.users[user]++
	p.taken.Add(1)
}

// leave gives a place back.
func (p *places) leave(user ids.UserID) {
	p.mu.Lock()
	p.count--
	if p.users[user]--; p.users[user] == 0 {
		delete(p.users, user)
	}
	p.mu.Unlock()
	p.taken.Done()
}

// free returns how many more runs the pod may have; it may be negative.
func (p *places) free() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit - p.count
}

// close has reserve refuse from now on.
func (p *places) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}
