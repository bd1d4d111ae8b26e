package store

import (
	"context"
	"errors"
	"strings"
	"sync"
)

// database is what differs between PostgreSQL and SQLite. SQL is written once, in what both understand, with "?" for
// parameters and {name} for the few words that differ (see [words]).
type database interface {
	// write runs statements in one transaction.
	write(ctx context.Context, statements []statement) error
	// append returns the statements that make changes which only add events, each of another session, in the order of their
	// sessions. If one of the changes cannot be made, they fail with errUnmet.
	append(changes []addition) []statement
	// read runs queries on one snapshot.
	read(ctx context.Context, queries []statement) error
	// ping checks that the database answers.
	ping(ctx context.Context) error
	// transient reports whether the same may succeed when it is tried again.
	transient(err error) bool
	close() error
}

// statement is one of a transaction.
type statement struct {
	sql  string
	args []any
	// must makes the transaction fail with errUnmet if the statement, an UPDATE, INSERT or DELETE without RETURNING, changes
	// fewer rows than that.
	must int
	// row, unless nil, is called for each row of the result, before it is known whether the transaction succeeds.
	row func(scan func(...any) error) error
}

var (
	// errUnmet: a statement that must change a row found none. Nothing was changed.
	errUnmet = errors.New("store: the row to change was not found, or has changed meanwhile")
	// errTaken: a row with this key exists. Nothing was changed.
	errTaken = errors.New("store: a row with this key exists")
)

// words are what a database writes for the {name}s of statements.
type words map[string]string

// dialect translates statements, each once.
type dialect struct {
	words  words
	dollar bool // $1, $2 instead of ?
	cache  sync.Map
}

// text returns a statement in the database's own SQL.
func (d *dialect) text(sql string) string {
	if t, ok := d.cache.Load(sql); ok {
		return t.(string)
	}
	t := sql
	for name, own := range d.words {
		t = strings.ReplaceAll(t, "{"+name+"}", own)
	}
	if d.dollar {
		t = dollars(t)
	}
	d.cache.Store(sql, t)
	return t
}

// maxRows bounds the rows of one statement, and so the number of different statements.
const maxRows = 64

// inserts returns statements that insert rows: head is "INSERT INTO t (a, b)", tail what follows the values.
func inserts(head, tail string, rows [][]any) []statement {
	var out []statement
	for len(rows) > 0 {
		n := min(len(rows), maxRows)
		one := "(?" + strings.Repeat(", ?", len(rows[0])-1) + ")"
		args := make([]any, 0, n*len(rows[0]))
		for _, r := range rows[:n] {
			args = append(args, r...)
		}
		out = append(out, statement{
			sql:  head + " VALUES " + one + strings.Repeat(", "+one, n-1) + " " + tail,
			args: args,
		})
		rows = rows[n:]
	}
	return out
}

// marks returns "?, ?, ?" for the values of an IN.
func marks(n int) string { return "?" + strings.Repeat(", ?", n-1) }
