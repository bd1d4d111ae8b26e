package frame

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Large is the size from which a frame counts against the [Budget], in bytes.
const Large = 64 << 10

// patience is how long a frame waits for the budget at most. The bound is soft: callers that are slow to take their
// answers must not stop the nodes of others.
const patience = 2 * time.Second

// share is the part of the budget that one owner may use: a half. Frames beyond it wait, and do not count against the others.
const share = 2

// Owner is whose a frame is, such as a user; the frames of "" share with nobody.
type Owner string

// Budget bounds the bytes of large frames in flight in one pod. It is safe for concurrent use.
type Budget struct {
	limit int64

	mu      sync.Mutex
	used    int64           // of all
	counted int64           // of all, of each owner at most its share
	owners  map[Owner]int64 // what each uses; only those that use something
	waiting []*turn         // in order of arrival
}

// turn is one frame that waits for its bytes.
type turn struct {
	owner   Owner
	bytes   int64
	granted chan struct{} // closed once the bytes are counted
}

// NewBudget returns a budget of limit bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit, owners: map[Owner]int64{}} }

// take waits its turn until n more bytes of owner fit, at most [patience], and counts them. A frame that waits for others of its own
// owner holds up no other owner.
func (b *Budget) take(ctx context.Context, owner Owner, n int64) {
	b.mu.Lock()
	if b.fits(owner, n) && !slices.ContainsFunc(b.waiting, func(t *turn) bool { return t.owner == owner || b.within(t.owner, t.bytes) }) {
		b.count(owner, n)
		b.mu.Unlock()
		return
	}
	t := &turn{owner: owner, bytes: n, granted: make(chan struct{})}
	b.waiting = append(b.waiting, t)
	b.mu.Unlock()

	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case <-t.granted:
		return
	case <-timeout.C:
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.waiting, t); i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
		b.count(owner, n)
	}
}

func (b *Budget) give(owner Owner, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count(owner, -n)
	for i := 0; i < len(b.waiting); {
		t := b.waiting[i]
		if !b.within(t.owner, t.bytes) { // it waits for its own
			i++
			continue
		}
		if !b.fits(t.owner, t.bytes) {
			return // its turn is next, however large it is
		}
		b.waiting = slices.Delete(b.waiting, i, i+1)
		b.count(t.owner, t.bytes)
		close(t.granted)
	}
}

// count adds n bytes to what an owner uses. Called with mu held, as the rest.
func (b *Budget) count(owner Owner, n int64) {
	before := b.owners[owner]
	b.used += n
	b.counted += b.part(owner, before+n) - b.part(owner, before)
	if b.owners[owner] += n; b.owners[owner] == 0 {
		delete(b.owners, owner)
	}
}

// part is how much of what an owner uses counts against the others.
func (b *Budget) part(owner Owner, used int64) int64 {
	if owner == "" {
		return used
	}
	return min(used, max(b.limit/share, 1))
}

// within reports whether n more bytes are within the owner's share; a single frame always is.
func (b *Budget) within(owner Owner, n int64) bool {
	used := b.owners[owner]
	return owner == "" || used == 0 || used+n <= b.limit/share
}

// fits lets a single frame pass that is larger than the whole budget.
func (b *Budget) fits(owner Owner, n int64) bool {
	return b.used == 0 || b.within(owner, n) && b.counted+b.part(owner, n) <= b.limit
}

// Used returns the bytes in flight.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}
