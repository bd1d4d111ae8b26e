package consent

import (
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

const (
	// fresh is how long a verdict is believed, and old how long where nobody can be asked.
	fresh, old = 10 * time.Second, 10 * time.Minute
	// askTimeout bounds one question.
	askTimeout = 3 * time.Second
	// maxUsers and maxTools bound what is remembered.
	maxUsers, maxTools = 10_000, 2_000
)

// page is what is known of one user; guarded by the keeper's mu.
type page struct {
	all   time.Time // when it was said that all calls run; zero where it was not
	tools map[entry]verdict
}

// entry is a tool at a device.
type entry struct {
	node ids.NodeID
	tool string
}

// verdict says that a tool's calls run at one connection of its device.
type verdict struct {
	epoch ids.Epoch
	said  time.Time
}

// remembered returns at which connection a tool may run by what is remembered: 0 for any.
func (k *Keeper) remembered(user ids.UserID, node ids.NodeID, tool string) (ids.Epoch, bool) {
	return k.within(fresh, user, node, tool)
}

// stale is for when nobody can be asked: what held holds on.
func (k *Keeper) stale(user ids.UserID, node ids.NodeID, tool string) (ids.Epoch, bool) {
	return k.within(old, user, node, tool)
}

func (k *Keeper) within(age time.Duration, user ids.UserID, node ids.NodeID, tool string) (ids.Epoch, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.pages[user]
	if p == nil {
		return 0, false
	}
	if time.Since(p.all) < age {
		return 0, true
	}
	v, ok := p.tools[entry{node, tool}]
	return v.epoch, ok && time.Since(v.said) < age
}

// seen is what remember wants to have of the time before a question.
func (k *Keeper) seen() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.heard
}

// remember keeps a verdict, unless something has changed since seen.
func (k *Keeper) remember(user ids.UserID, node ids.NodeID, tool string, epoch ids.Epoch, standing agentv1.Admission_Standing, seen uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	lasting := standing == agentv1.Admission_STANDING_USER || standing == agentv1.Admission_STANDING_TOOL
	if k.heard != seen || !lasting {
		return
	}
	p := k.pages[user]
	if p == nil {
		k.makeRoom()
		p = &page{tools: make(map[entry]verdict)}
		k.pages[user] = p
	}
	if standing == agentv1.Admission_STANDING_USER {
		p.all = time.Now()
		return
	}
	if len(p.tools) >= maxTools {
		clear(p.tools)
	}
	p.all, p.tools[entry{node, tool}] = time.Time{}, verdict{epoch, time.Now()}
}

// makeRoom is called with mu held.
func (k *Keeper) makeRoom() {
	for user := range k.pages {
		if len(k.pages) < maxUsers {
			return
		}
		delete(k.pages, user)
	}
}

// Forget drops what is remembered of a tool, and reports whether there was something.
func (k *Keeper) Forget(user ids.UserID, node ids.NodeID, tool string) bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.pages[user]
	if p == nil {
		return false
	}
	_, known := p.tools[entry{node, tool}]
	delete(p.tools, entry{node, tool})
	return known
}
