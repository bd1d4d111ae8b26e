package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

const (
	// maxGroup bounds the changes that share a transaction, so that the last of them does not wait long.
	maxGroup = 256
	// After a transaction of a crowd, the next one gathers changes for a while: what a transaction costs beside its changes
	// is then shared by more of them.
	crowd     = 16
	gatherFor = 4 * time.Millisecond
)

// group writes changes of different runs. A change that arrives while no other is being written is written at once; those
// that arrive meanwhile wait and are then written together, in one transaction. So a thousand runs that stream cost the
// database little more than a few. Each change succeeds or fails by itself: if a group fails, its changes are written one
// by one.
type group struct {
	// static after construction
	db    database
	lanes int // transactions at one time

	running sync.WaitGroup // goroutines that write for others

	mu    sync.Mutex
	busy  int       // of lanes; guarded by mu
	queue []*member // guarded by mu
}

// member is a change that waits for its turn. It has either statements, which return no rows, or an addition.
type member struct {
	session    int64
	statements []statement
	addition   *addition
	result     chan error // capacity 1
}

// write writes the change of a session. When ctx ends, write returns, and the change is dropped unless it is being written
// already.
func (g *group) write(ctx context.Context, m member) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	m.result = make(chan error, 1)
	g.mu.Lock()
	g.queue = append(g.queue, &m)
	var batch []*member
	if g.busy < g.lanes {
		g.busy++
		batch = g.next()
	}
	g.mu.Unlock()
	if batch != nil {
		g.together(batch)
		g.passOn(len(batch))
	}
	select {
	case err := <-m.result:
		return err
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		g.queue = slices.DeleteFunc(g.queue, func(other *member) bool { return other == &m })
		return ctx.Err()
	}
}

// next takes the changes to write next from the queue: those of the kind that has waited longest. A transaction with both
// kinds would change rows in another order than that of the sessions. It is called with mu held.
func (g *group) next() []*member {
	adds := g.queue[0].addition != nil
	batch := make([]*member, 0, min(len(g.queue), maxGroup))
	g.queue = slices.DeleteFunc(g.queue, func(m *member) bool {
		if len(batch) == maxGroup || adds != (m.addition != nil) {
			return false
		}
		batch = append(batch, m)
		return true
	})
	return batch
}

// passOn gives the lane back, or hands it to a goroutine that writes what arrives while so many changes are written, so that
// no caller waits for more than its own change.
func (g *group) passOn(written int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue) == 0 {
		g.busy--
		return
	}
	g.running.Go(func() {
		for written > 0 {
			if written >= crowd {
				time.Sleep(gatherFor)
			}
			written = g.writeNext()
		}
	})
}

// writeNext writes what has arrived, and returns how many changes that were. If there were none, the lane is given back.
func (g *group) writeNext() int {
	g.mu.Lock()
	if len(g.queue) == 0 {
		g.busy--
		g.mu.Unlock()
		return 0
	}
	batch := g.next()
	g.mu.Unlock()
	g.together(batch)
	return len(batch)
}

// together writes changes in one transaction.
func (g *group) together(batch []*member) {
	// Every transaction that locks several rows locks them in the same order: see {pairs}.
	slices.SortStableFunc(batch, func(a, b *member) int { return cmp.Compare(a.session, b.session) })
	err := g.attempt(batch)
	if err != nil && len(batch) > 1 && !g.away(err) {
		for err = nil; len(batch) > 0 && !g.away(err); batch = batch[1:] {
			err = g.attempt(batch[:1])
			batch[0].result <- err
		}
	}
	for _, m := range batch { // where that is an error, each looks up whether its own change was made
		m.result <- err
	}
}

// away reports whether an error is not that of a change: the next one would wait just as long, and fail with it.
func (g *group) away(err error) bool {
	return err != nil && (g.db.transient(err) || errors.Is(err, context.DeadlineExceeded))
}

// attempt writes changes of one kind.
func (g *group) attempt(batch []*member) error {
	ctx, cancel := context.WithTimeout(context.Background(), attemptTime)
	defer cancel()
	var statements []statement
	var additions []addition
	for _, m := range batch {
		if m.addition != nil {
			additions = append(additions, *m.addition)
		}
		statements = append(statements, m.statements...)
	}
	if len(additions) > 0 {
		statements = g.db.append(additions)
	}
	return g.db.write(ctx, statements)
}

// close waits for what is being written.
func (g *group) close() { g.running.Wait() }
