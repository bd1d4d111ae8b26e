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

// Budget bounds the bytes of large frames in flight in one pod. It is safe for concurrent use.
type Budget struct {
	limit int64

	mu      sync.Mutex
	used    int64
	waiting []*turn // in order of arrival
}

// turn is one frame that waits for its bytes.
type turn struct {
	bytes   int64
	granted chan struct{} // closed once the bytes are counted
}

// NewBudget returns a budget of limit bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// take waits its turn until n more bytes fit, at most [patience], and counts them.
func (b *Budget) take(ctx context.Context, n int64) {
	b.mu.Lock()
	if len(b.waiting) == 0 && b.fits(n) {
		b.used += n
		b.mu.Unlock()
		return
	}
	t := &turn{bytes: n, granted: make(chan struct{})}
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
		b.used += n
	}
}

func (b *Budget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	for len(b.waiting) > 0 && b.fits(b.waiting[0].bytes) {
		t := b.waiting[0]
		b.waiting = slices.Delete(b.waiting, 0, 1)
		b.used += t.bytes
		close(t.granted)
	}
}

// fits lets a single frame pass that is larger than the whole budget.
func (b *Budget) fits(n int64) bool { return b.used == 0 || b.used+n <= b.limit }

// Used returns the bytes in flight.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}
