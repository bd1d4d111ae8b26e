package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
)

// maxGroup bounds the changes that share a transaction: who comes last must not wait long.
const maxGroup = 256

// group writes changes of different runs. One that comes while nobody writes is written at once; those that come meanwhile
// wait and are then written together, in one transaction: a thousand runs that stream cost a database little more than
// the few that it can keep up with. Whether a change succeeds is its own matter: where one of a group fails they are
// written one by one.
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

// write writes the change of a session, which must have no statement with rows. The end of ctx ends the waiting, and takes
// the change back where nobody writes it yet.
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

// next takes those whose turn it is. It is called with mu held.
func (g *group) next() []*member {
	n := min(len(g.queue), maxGroup)
	batch := slices.Clone(g.queue[:n])
	g.queue = slices.Delete(g.queue, 0, n)
	return batch
}

// passOn gives the lane back, or to a goroutine that writes what has come meanwhile: nobody waits for more than his own.
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
	// Rows are locked in one order by all who lock several: see {pairs}.
	slices.SortStableFunc(batch, func(a, b *member) int { return cmp.Compare(a.session, b.session) })
	var all []statement
	for _, m := range batch {
		all = append(all, m.statements...)
	}
	err := g.attempt(all)
	if err == nil || g.db.transient(err) || errors.Is(err, context.DeadlineExceeded) { // each looks up what became of its own
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
