package store

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// database is PostgreSQL or SQLite behind database/sql. SQL is written once, with "?" for parameters and {name} for the few words
// that differ.
type database struct {
	// Static after construction.
	writes, reads *sql.DB // of SQLite, which has one writer, two; of PostgreSQL the same one
	words         map[string]string
	dollar        bool // $1 instead of ?
	transient     func(error) bool
	texts         sync.Map // of statements, in the database's own SQL
}

// text returns a statement in the database's own SQL.
func (d *database) text(statement string) string {
	if t, ok := d.texts.Load(statement); ok {
		return t.(string)
	}
	t := statement
	for word, own := range d.words {
		t = strings.ReplaceAll(t, "{"+word+"}", own)
	}
	if d.dollar {
		t = dollars(t)
	}
	d.texts.Store(statement, t)
	return t
}

// dollars numbers the parameters.
func dollars(text string) string {
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(text, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(n))
		text = after
	}
}

func (d *database) close() error {
	err := d.writes.Close()
	if d.reads != d.writes {
		err = errors.Join(err, d.reads.Close())
	}
	return err
}

// transaction is one, in which statements are written as [database] says.
type transaction struct {
	*sql.Tx
	ctx context.Context
	d   *database
}

// exec runs a statement and returns how many rows it changed.
func (t *transaction) exec(statement string, args ...any) (int64, error) {
	result, err := t.ExecContext(t.ctx, t.d.text(statement), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// row reads the one row of a query; sql.ErrNoRows where there is none.
func (t *transaction) row(statement string, args []any, into ...any) error {
	return t.QueryRowContext(t.ctx, t.d.text(statement), args...).Scan(into...)
}

// rows calls each for every row.
func (t *transaction) rows(statement string, args []any, each func(scan func(...any) error) error) error {
	rows, err := t.QueryContext(t.ctx, t.d.text(statement), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// insert adds rows; head is "INSERT INTO t (a, b)". The rows of one statement are bounded, and so is the number of different
// statements.
func (t *transaction) insert(head string, rows [][]any) error {
	const most = 128
	for len(rows) > 0 {
		n := 1
		if len(rows) >= most {
			n = most
		} else if len(rows) >= 8 {
			n = 8
		}
		one := "(?" + strings.Repeat(", ?", len(rows[0])-1) + ")"
		args := make([]any, 0, n*len(rows[0]))
		for _, r := range rows[:n] {
			args = append(args, r...)
		}
		if _, err := t.exec(head+" VALUES "+one+strings.Repeat(", "+one, n-1), args...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// Patience of attempts during an outage.
const (
	patience  = 3 * time.Second
	firstWait = 10 * time.Millisecond
	longWait  = 500 * time.Millisecond
)

// write runs a transaction that changes something, again where the database was away for a moment. An attempt whose connection
// broke may have been carried out: change must look before it writes, or write what may be written twice.
func (s *Store) write(ctx context.Context, change func(*transaction) error) error {
	return s.retry(ctx, func() error { return s.transact(ctx, s.db.writes, nil, change) })
}

// read runs a transaction that changes nothing.
func (s *Store) read(ctx context.Context, look func(*transaction) error) error {
	return s.retry(ctx, func() error { return s.transact(ctx, s.db.reads, &sql.TxOptions{ReadOnly: true}, look) })
}

func (s *Store) transact(ctx context.Context, db *sql.DB, o *sql.TxOptions, do func(*transaction) error) error {
	tx, err := db.BeginTx(ctx, o)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to undo
	if err := do(&transaction{tx, ctx, s.db}); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *Store) retry(ctx context.Context, attempt func() error) error {
	over := time.Now().Add(patience)
	for wait := firstWait; ; wait = min(2*wait, longWait) {
		err := attempt()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !s.db.transient(err):
			return err
		case time.Now().After(over):
			return &errs.Error{Reason: errs.KnowledgeUnavailable, Message: "the database of knowledge bases cannot be reached at the moment; try again", Err: err}
		}
		select {
		case <-time.After(wait/2 + rand.N(wait)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// marks returns "?, ?, ?" for the values of an IN.
func marks(n int) string { return "?" + strings.Repeat(", ?", n-1) }

// arguments makes parameters of values.
func arguments[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}
