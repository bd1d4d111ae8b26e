package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
)

// writer is the one connection that writes, with its prepared statements. One goroutine uses it: SQLite needs a large stack,
// which each of a thousand runs would otherwise grow for itself. It is idle while no caller has the turn.
type writer struct {
	// static after construction
	db   *sql.DB
	jobs chan job      // unbuffered
	quit chan struct{} // closed by close
	done chan struct{} // closed when the goroutine has ended

	// owned by the goroutine
	conn       *sql.Conn // nil until it is needed
	statements map[string]*sql.Stmt
}

// job is a transaction.
type job struct {
	ctx        context.Context
	dialect    *dialect
	statements []statement
	result     chan<- error // capacity 1
}

// newWriter returns a writer that writes to db.
func newWriter(db *sql.DB) *writer {
	w := &writer{db: db, jobs: make(chan job), quit: make(chan struct{}), done: make(chan struct{})}
	go w.work()
	return w
}

func (w *writer) work() {
	defer close(w.done)
	for {
		select {
		case j := <-w.jobs:
			j.result <- w.transaction(j.ctx, j.dialect, j.statements)
		case <-w.quit:
			return
		}
	}
}

// write has the goroutine run a transaction. The caller must have the turn.
func (w *writer) write(ctx context.Context, d *dialect, statements []statement) error {
	result := make(chan error, 1)
	select {
	case w.jobs <- job{ctx, d, statements, result}:
		return <-result
	case <-w.done:
		return sql.ErrConnDone
	}
}

// transaction runs statements whole or not at all. A single one is a transaction by itself.
func (w *writer) transaction(ctx context.Context, d *dialect, statements []statement) error {
	if len(statements) == 1 {
		return w.run(ctx, d, &statements[0])
	}
	// A transaction that begins by reading may be refused the write later: this one takes the write lock at its beginning.
	if err := w.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for i := range statements {
		if err := w.run(ctx, d, &statements[i]); err != nil {
			return errors.Join(err, w.rollback(ctx))
		}
	}
	if err := w.exec(ctx, "COMMIT"); err != nil {
		return errors.Join(err, w.rollback(ctx))
	}
	return nil
}

// rollback gives up a connection that cannot be brought out of its transaction.
func (w *writer) rollback(ctx context.Context) error {
	err := w.exec(ctx, "ROLLBACK")
	if err == nil {
		return nil
	}
	_ = w.conn.Raw(func(any) error { return driver.ErrBadConn }) // closes it, and with it its transaction
	w.conn, w.statements = nil, nil
	return err
}

func (w *writer) run(ctx context.Context, d *dialect, s *statement) error {
	stmt, err := w.prepare(ctx, d.text(s.sql))
	if err != nil {
		return err
	}
	if s.row != nil {
		return query(ctx, stmt, s)
	}
	result, err := stmt.ExecContext(ctx, s.args...)
	if err != nil || s.must == 0 {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n >= int64(s.must) {
		return err
	}
	return errUnmet
}

func (w *writer) exec(ctx context.Context, text string) error {
	stmt, err := w.prepare(ctx, text)
	if err != nil {
		return err
	}
	_, err = stmt.ExecContext(ctx)
	return err
}

func (w *writer) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	if stmt, ok := w.statements[text]; ok {
		return stmt, nil
	}
	if w.conn == nil {
		conn, err := w.db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		w.conn, w.statements = conn, map[string]*sql.Stmt{}
	}
	stmt, err := w.conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	w.statements[text] = stmt
	return stmt, nil
}

func (w *writer) close() error {
	close(w.quit)
	<-w.done
	var err error
	for _, s := range w.statements {
		err = errors.Join(err, s.Close())
	}
	if w.conn != nil {
		err = errors.Join(err, w.conn.Close())
	}
	w.conn, w.statements = nil, nil
	return errors.Join(err, w.db.Close())
}

// query runs a statement that has rows.
func query(ctx context.Context, stmt *sql.Stmt, s *statement) (err error) {
	rows, err := stmt.QueryContext(ctx, s.args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if s.row == nil {
			continue
		}
		if err := s.row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// turn is the right to write to a file among the Stores of this process. They wait for it in order; with SQLite's own lock,
// which works between processes, each would try again after a while.
type turn struct {
	path  string
	slot  chan struct{} // holds one element while somebody writes
	users int           // guarded by turns.mu
}

var turns = struct {
	mu     sync.Mutex
	byPath map[string]*turn // guarded by mu
}{byPath: map[string]*turn{}}

// turnOf returns the turn of a file, and counts one more user of it.
func turnOf(path string) *turn {
	turns.mu.Lock()
	defer turns.mu.Unlock()
	t := turns.byPath[path]
	if t == nil {
		t = &turn{path: path, slot: make(chan struct{}, 1)}
		turns.byPath[path] = t
	}
	t.users++
	return t
}

func (t *turn) leave() {
	turns.mu.Lock()
	defer turns.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(turns.byPath, t.path)
	}
}

func (t *turn) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case t.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *turn) give() { <-t.slot }
