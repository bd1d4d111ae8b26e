package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"

	"github.com/pressly/goose/v3"
	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// sqliteReaders is how many queries one pod runs at once.
const sqliteReaders = 4

// sqlite writes through one connection, because a database has one writer, and reads through a few others, which the
// writer does not hold up (WAL). With synchronous=NORMAL a commit survives the end of the process at once, and the end of the
// machine from the next checkpoint on.
type sqlite struct {
	dialect dialect
	writer  *writer
	turn    *turn
	readers *sql.DB

	mu      sync.Mutex
	queries map[string]*sql.Stmt // guarded by mu
}

func openSQLite(ctx context.Context, path string) (*sqlite, error) {
	// Only the owner may read it: SQLite gives the files beside it the same mode.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := migrateSQLite(ctx, path); err != nil {
		return nil, err
	}
	writes, err := openFile(path, 1, "synchronous(NORMAL)", "wal_autocheckpoint(4000)")
	if err != nil {
		return nil, err
	}
	readers, err := openFile(path, sqliteReaders, "query_only(1)")
	if err != nil {
		return nil, errors.Join(err, writes.Close())
	}
	return &sqlite{
		dialect: dialect{words: words{
			"now":         `CAST(unixepoch('subsec') * 1000 AS integer)`,
			"pairs":       `SELECT value->>0 AS pair_id, value->>1 AS pair_token FROM json_each(?)`,
			"skip locked": ``, // there is one writer
			"is running":  `status = 'running'`,
			// Without it, a statement that changes several rows copies each page first, to take itself back if it fails in
			// the middle; its transaction is rolled back anyway.
			"or fail": `OR FAIL`,
		}},
		writer: newWriter(writes), turn: turnOf(path), readers: readers, queries: map[string]*sql.Stmt{},
	}, nil
}

// openFile opens a database file with the pragmas given, for at most n connections.
func openFile(path string, n int, pragmas ...string) (*sql.DB, error) {
	q := url.Values{"_pragma": append([]string{"busy_timeout(5000)"}, pragmas...)}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("store: open: %w", err)
	}
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db, nil
}

// migrateSQLite migrates while it holds the lock of a second, empty database: SQLite has no other lock that works between
// processes and ends with the process that holds it.
func migrateSQLite(ctx context.Context, path string) (err error) {
	lock, err := openFile(path+".lock", 1, "busy_timeout(60000)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if _, err := lock.ExecContext(ctx, "BEGIN EXCLUSIVE"); err != nil {
		return fmt.Errorf("store: lock the schema: %w", err)
	}
	db, err := openFile(path, 2, "journal_mode(WAL)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return migrate(ctx, goose.DialectSQLite3, "sqlite", db)
}

// write waits for its turn, and cannot be cancelled after that: the write takes less time than finding out whether it was
// done.
func (s *sqlite) write(ctx context.Context, statements []statement) error {
	if err := s.turn.take(ctx); err != nil {
		return err
	}
	defer s.turn.give()
	return constraint(s.writer.write(context.WithoutCancel(ctx), &s.dialect, statements))
}

// constraint turns the error of a key that exists into errTaken.
func constraint(err error) error {
	var e *driver.Error
	if errors.As(err, &e) && (e.Code() == lib.SQLITE_CONSTRAINT_PRIMARYKEY || e.Code() == lib.SQLITE_CONSTRAINT_UNIQUE) {
		return fmt.Errorf("%w: %w", errTaken, err)
	}
	return err
}

func (s *sqlite) read(ctx context.Context, queries []statement) error {
	// Before the transaction: a caller that holds one of the few connections while it waits for another could deadlock with
	// callers that do the same.
	prepared := make([]*sql.Stmt, len(queries))
	for i := range queries {
		stmt, err := s.prepared(ctx, queries[i].sql)
		if err != nil {
			return err
		}
		prepared[i] = stmt
	}
	if len(queries) == 1 {
		return query(ctx, prepared[0], &queries[0])
	}
	tx, err := s.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	for i := range queries {
		if err := query(ctx, tx.StmtContext(ctx, prepared[i]), &queries[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *sqlite) prepared(ctx context.Context, text string) (*sql.Stmt, error) {
	s.mu.Lock()
	stmt, ok := s.queries[text]
	s.mu.Unlock()
	if ok {
		return stmt, nil
	}
	stmt, err := s.readers.PrepareContext(ctx, s.dialect.text(text))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if first, ok := s.queries[text]; ok {
		_ = stmt.Close() // another goroutine has prepared it meanwhile
		return first, nil
	}
	s.queries[text] = stmt
	return stmt, nil
}

func (s *sqlite) ping(ctx context.Context) error {
	return s.read(ctx, []statement{{sql: "SELECT count(*) FROM users WHERE user_id = ''"}})
}

func (s *sqlite) transient(err error) bool {
	var e *driver.Error
	if !errors.As(err, &e) {
		return false
	}
	primary := e.Code() & 0xff
	return primary == lib.SQLITE_BUSY || primary == lib.SQLITE_LOCKED
}

func (s *sqlite) close() error {
	s.turn.slot <- struct{}{} // until the current write has ended
	err := s.writer.close()
	s.turn.give()
	s.turn.leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.queries {
		err = errors.Join(err, q.Close())
	}
	return errors.Join(err, s.readers.Close())
}
