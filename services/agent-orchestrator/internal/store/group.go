package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
)

// maxGroup bounds the changes that share a transaction, so that the last of them does not wait long.
const maxGroup = 256

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

// member is a change that waits for its turn.
type member struct {
	session    int64
	statements []statement
	result     chan error // capacity 1
}

// write writes the change of a session, whose statements must return no rows. When ctx ends, write returns, and the change
// is dropped unless it is being written already.
func (g *group) write(ctx context.Context, session int64, statements []statement) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	m := &member{session: session, statements: statements, result: make(chan error, 1)}
	g.mu.Lock()
	g.queue = append(g.queue, m)
	var batch []*member
	if g.busy < g.lanes {
		g.busy++
		batch = g.next()
	}
	g.mu.Unlock()
	if batch != nil {
		g.together(batch)
		g.passOn()
	}
	select {
	case err := <-m.result:
		return err
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		g.queue = slices.DeleteFunc(g.queue, func(other *member) bool { return other == m })
		return ctx.Err()
	}
}

// next takes the changes to write next from the queue. It is called with mu held.
func (g *group) next() []*member {
	n := min(len(g.queue), maxGroup)
	batch := slices.Clone(g.queue[:n])
	g.queue = slices.Delete(g.queue, 0, n)
	return batch
}

// passOn gives the lane back, or hands it to a goroutine that writes what has arrived meanwhile, so that no caller waits for
// more than its own change.
func (g *group) passOn() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.queue) == 0 {
		g.busy--
		return
	}
	batch := g.next()
	g.running.Go(func() {
		g.together(batch)
		g.passOn()
	})
}

// together writes changes in one transaction.
func (g *group) together(batch []*member) {
	if len(batch) == 1 {
		batch[0].result <- g.attempt(batch[0].statements)
		return
	}
	// Every transaction that locks several rows locks them in the same order: see {pairs}.
	slices.SortStableFunc(batch, func(a, b *member) int { return cmp.Compare(a.session, b.session) })
	var all []statement
	for _, m := range batch {
		all = append(all, m.statements...)
	}
	err := g.attempt(all)
	if err == nil || g.db.transient(err) || errors.Is(err, context.DeadlineExceeded) { // each looks up whether its own change was made
		for _, m := range batch {
			m.result <- err
		}
		return
	}
	for _, m := range batch {
		m.result <- g.attempt(m.statements)
	}
}

func (g *group) attempt(statements []statement) error {
	ctx, cancel := context.WithTimeout(context.Background(), attemptTime)
	defer cancel()
	return g.db.write(ctx, statements)
}

// close waits for what is being written.
func (g *group) close() { g.running.Wait() }
