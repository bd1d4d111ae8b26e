package live

import (
	"sync"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// forgetAfter is how many rounds of announcements a session is taken for followed after the last one that named it.
const forgetAfter = 3

// interest is which sessions other pods follow, as they announce it. Most runs are followed on their own pod alone, and their
// events need not go over the bus at all. Its methods may be called from several goroutines.
type interest struct {
	mu    sync.Mutex
	round int                   // grows with each round of announcements; guarded by mu
	until map[store.Ref]int     // the round in which a session is forgotten; guarded by mu
	kept  [2]map[store.Ref]bool // sessions of which events were kept back in this round, and in the one before; guarded by mu
}

func newInterest() *interest {
	return &interest{until: map[store.Ref]int{}, kept: [2]map[store.Ref]bool{{}, {}}}
}

// wanted reports whether another pod follows a session. If not, it remembers for a while that events were kept back.
func (i *interest) wanted(ref store.Ref) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if _, ok := i.until[ref]; ok {
		return true
	}
	if !i.kept[0][ref] {
		i.kept[0][ref] = true
	}
	return false
}

// announced notes that another pod follows a session. missed says that events were kept back a short time ago, which may have
// been after that pod had read the store.
func (i *interest) announced(ref store.Ref) (missed bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.until[ref] = i.round + forgetAfter
	missed = i.kept[0][ref] || i.kept[1][ref]
	delete(i.kept[0], ref)
	delete(i.kept[1], ref)
	return missed
}

// nextRound forgets what has not been announced for long.
func (i *interest) nextRound() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.round++
	for ref, round := range i.until {
		if round < i.round {
			delete(i.until, ref)
		}
	}
	i.kept[0], i.kept[1] = map[store.Ref]bool{}, i.kept[0]
}
