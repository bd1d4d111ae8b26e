package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/pressly/goose/v3"
	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// sqliteReaders is how many queries one pod runs at once.
const sqliteReaders = 4

func openSQLite(ctx context.Context, address string) (*database, error) {
	path, ok := strings.CutPrefix(address, "sqlite://")
	if !ok || !strings.HasPrefix(path, "/") {
		return nil, errors.New("store: the URL of an SQLite file is sqlite:// and its absolute path")
	}
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
	// A transaction that begins by reading may be refused the write later: it takes the write lock at its beginning.
	writes, err := openFile(path, 1, url.Values{"_txlock": {"immediate"}}, "foreign_keys(1)", "synchronous(NORMAL)", "wal_autocheckpoint(4000)")
	if err != nil {
		return nil, err
	}
	reads, err := openFile(path, sqliteReaders, nil, "query_only(1)")
	if err != nil {
		return nil, errors.Join(err, writes.Close())
	}
	return &database{
		writes: writes, reads: reads, transient: sqliteBusy,
		words: map[string]string{
			"now":         `CAST(unixepoch('subsec') * 1000 AS integer)`,
			"skip locked": ``, // there is one writer
			"for update":  ``,
		},
	}, nil
}

// openFile opens a database file with the pragmas given, for at most n connections.
func openFile(path string, n int, more url.Values, pragmas ...string) (*sql.DB, error) {
	q := url.Values{"_pragma": append([]string{"busy_timeout(10000)"}, pragmas...)}
	for name, values := range more {
		q[name] = values
	}
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
	lock, err := openFile(path+".lock", 1, nil, "busy_timeout(60000)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if _, err := lock.ExecContext(ctx, "BEGIN EXCLUSIVE"); err != nil {
		return fmt.Errorf("store: lock the schema: %w", err)
	}
	db, err := openFile(path, 2, nil, "journal_mode(WAL)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return migrate(ctx, goose.DialectSQLite3, "sqlite", db)
}

func sqliteBusy(err error) bool {
	var e *driver.Error
	if !errors.As(err, &e) {
		return false
	}
	primary := e.Code() & 0xff
	return primary == lib.SQLITE_BUSY || primary == lib.SQLITE_LOCKED
}
