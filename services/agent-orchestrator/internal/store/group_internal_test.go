package store

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

// slowDisk is a database whose transactions take a while, and fail where they have a statement of a session in bad.
type slowDisk struct {
	takes time.Duration
	bad   map[int64]error

	mu     sync.Mutex
	groups [][]int64 // the sessions of each transaction; guarded by mu
}

func (d *slowDisk) write(ctx context.Context, statements []statement) error {
	var sessions []int64
	var failed error
	for _, s := range statements {
		session := s.args[0].(int64)
		sessions = append(sessions, session)
		failed = errors.Join(failed, d.bad[session])
	}
	d.mu.Lock()
	d.groups = append(d.groups, sessions)
	d.mu.Unlock()
	select {
	case <-time.After(d.takes):
		return failed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *slowDisk) append(changes []addition) (out []statement) {
	for _, a := range changes {
		out = append(out, statement{args: []any{a.session}})
	}
	return out
}

func (d *slowDisk) read(context.Context, []statement) error { return nil }
func (d *slowDisk) ping(context.Context) error              { return nil }
func (d *slowDisk) transient(err error) bool                { return errors.Is(err, errAway) }
func (d *slowDisk) close() error                            { return nil }

var errAway = errors.New("the database is away")

func adds(session int64) member {
	return member{session: session, addition: &addition{session: session}}
}

func ends(session int64) member {
	return member{session: session, statements: []statement{{args: []any{session}}}}
}

// writeAll writes changes that come while another one is being written, and returns their errors by session.
func writeAll(ctx context.Context, g *group, changes ...member) map[int64]error {
	var mu sync.Mutex
	out := map[int64]error{}
	var writing sync.WaitGroup
	for _, m := range append([]member{adds(0)}, changes...) {
		writing.Go(func() {
			err := g.write(ctx, m)
			mu.Lock()
			defer mu.Unlock()
			out[m.session] = err
		})
		synctest.Wait() // it stands behind the one before
	}
	writing.Wait()
	delete(out, 0)
	return out
}

func TestChangesShareTransactionsOfTheirKind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &slowDisk{takes: time.Second}
		g := &group{db: d, lanes: 1}
		for session, err := range writeAll(t.Context(), g, adds(3), ends(9), adds(1), adds(2), ends(8)) {
			if err != nil {
				t.Errorf("session %d: %v", session, err)
			}
		}
		g.close()
		want := [][]int64{{0}, {1, 2, 3}, {8, 9}}
		if !slices.EqualFunc(d.groups, want, slices.Equal) {
			t.Errorf("the transactions are %v, want %v", d.groups, want)
		}
	})
}

// A change that cannot be made fails alone; with a database that is away all fail, and each looks for itself what became of it.
func TestAChangeFailsWithItsOwnError(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(int64) member{"additions": adds, "others": ends} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := &slowDisk{takes: time.Second, bad: map[int64]error{2: errUnmet}}
				g := &group{db: d, lanes: 1}
				for session, err := range writeAll(t.Context(), g, of(1), of(2), of(3)) {
					if !errors.Is(err, d.bad[session]) {
						t.Errorf("session %d: %v, want %v", session, err, d.bad[session])
					}
				}
				d.bad[2] = errAway
				for session, err := range writeAll(t.Context(), g, of(1), of(2), of(3)) {
					if !errors.Is(err, errAway) {
						t.Errorf("session %d: %v, want %v", session, err, errAway)
					}
				}
			})
		})
	}
}

// Whoever gives up while others' changes are written is not kept, and the change is not written.
func TestWaitingChangeIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &slowDisk{takes: time.Second}
		g := &group{db: d, lanes: 1}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		var writing sync.WaitGroup
		writing.Go(func() { _ = g.write(t.Context(), adds(0)) })
		synctest.Wait()
		writing.Go(func() {
			if err := g.write(t.Context(), adds(1)); err != nil {
				t.Errorf("the change beside: %v", err)
			}
		})
		began := time.Now()
		if err := g.write(ctx, adds(2)); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		writing.Wait()
		g.close()
		if want := [][]int64{{0}, {1}}; !slices.EqualFunc(d.groups, want, slices.Equal) {
			t.Errorf("the transactions are %v, want %v", d.groups, want)
		}
	})
}

// A disk that hangs fails what it was given after attemptTime, and nobody waits longer.
func TestDiskHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &slowDisk{takes: time.Hour}
		g := &group{db: d, lanes: 1}
		began := time.Now()
		for session, err := range writeAll(t.Context(), g, adds(1), adds(2)) {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("session %d: %v", session, err)
			}
		}
		if took := time.Since(began); took > 2*attemptTime {
			t.Errorf("the changes were held for %v", took)
		}
	})
}

// After a crowd, changes are gathered for a moment; close waits until they are written.
func TestCrowdIsGathered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &slowDisk{takes: time.Millisecond}
		g := &group{db: d, lanes: 1}
		var writing sync.WaitGroup
		write := func(from, to int64) {
			for session := from; session < to; session++ {
				writing.Go(func() {
					if err := g.write(t.Context(), adds(session)); err != nil {
						t.Error(err)
					}
				})
			}
			synctest.Wait()
		}
		write(0, 1)
		write(1, 1+crowd) // while the first is written
		testkit.Advance(d.takes + d.takes/2)
		write(100, 102) // while the crowd is
		testkit.Advance(d.takes)
		write(200, 203) // while the next ones gather
		g.close()
		writing.Wait()
		var sizes []int
		for _, sessions := range d.groups {
			sizes = append(sizes, len(sessions))
		}
		if want := []int{1, crowd, 5}; !slices.Equal(sizes, want) {
			t.Errorf("transactions of %v changes, want %v", sizes, want)
		}
		if g.busy != 0 {
			t.Errorf("%d lanes are busy", g.busy)
		}
		if err := g.write(t.Context(), adds(300)); err != nil {
			t.Error(err)
		}
		g.close()
	})
}

// dyingDisk fails a transaction for a change's sake, and is away from then on.
type dyingDisk struct {
	slowDisk
	writes int // owned by the one lane
}

func (d *dyingDisk) write(context.Context, []statement) error {
	d.writes++
	switch d.writes {
	case 1: // what others wait for
		<-time.After(time.Millisecond)
		return nil
	case 2:
		return errUnmet
	default:
		return errAway
	}
}

// Of changes that are written one by one, none is tried on a database that the one before has found away.
func TestDatabaseDiesWithinAGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &dyingDisk{}
		g := &group{db: d, lanes: 1}
		for session, err := range writeAll(t.Context(), g, adds(1), adds(2), adds(3)) {
			if !errors.Is(err, errAway) {
				t.Errorf("session %d: %v, want %v", session, err, errAway)
			}
		}
		g.close()
		if d.writes != 3 {
			t.Errorf("%d transactions, want 3: the first, the group, and one change alone", d.writes)
		}
	})
}
