package pgblob

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/gcerrors"
)

const (
	// partSize is how many bytes of an object are in one row: large enough that rows do not count, small enough that a reader needs little
	// memory.
	partSize = 256 << 10
	// maxConns is how many connections one pod opens. A reader has one until it is closed.
	maxConns = 8
	// schemaLock is the advisory lock under which the tables are made; any number that nothing else uses.
	schemaLock = 0x66696c6573 // "files"
)

// Keys compare by their bytes, as object storage lists them.
const schema = `
CREATE TABLE IF NOT EXISTS workspace_objects (
	key          text COLLATE "C" PRIMARY KEY,
	version      bigint NOT NULL,
	content_type text NOT NULL,
	size         bigint NOT NULL,
	md5          bytea NOT NULL,
	modified     timestamptz NOT NULL
);
CREATE TABLE IF NOT EXISTS workspace_parts (
	version bigint NOT NULL,
	part    integer NOT NULL,
	data    bytea NOT NULL,
	PRIMARY KEY (version, part)
);
ALTER TABLE workspace_parts ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE SEQUENCE IF NOT EXISTS workspace_versions;`

var (
	errNotFound    = errors.New("pgblob: no such object")
	errUnsupported = errors.New("pgblob: not implemented")
)

// Open returns the bucket of a database, postgres://user:password@host/database?…, and makes its tables where they are missing.
// Several pods may do so at once.
func Open(ctx context.Context, url string) (*blob.Bucket, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("the URL of PostgreSQL: %w", err) // pgx leaves the password out
	}
	db := stdlib.OpenDB(*config, stdlib.OptionBeforeConnect(func(_ context.Context, c *pgx.ConnConfig) error {
		fresh, err := pgx.ParseConfig(url) // reads the files of certificates, which are renewed in place
		if err == nil {
			c.TLSConfig, c.Fallbacks = fresh.TLSConfig, fresh.Fallbacks
		}
		return err
	}))
	db.SetMaxOpenConns(maxConns)
	db.SetMaxIdleConns(maxConns)
	db.SetConnMaxIdleTime(5 * time.Minute)
	b := &bucket{db: db}
	if err := b.prepare(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return blob.NewBucket(b), nil
}

// bucket implements [driver.Bucket].
type bucket struct{ db *sql.DB }

func (b *bucket) prepare(ctx context.Context) error {
	return b.transact(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, schemaLock); err != nil {
			return err
		}
		var there bool
		err := tx.QueryRowContext(ctx, `SELECT to_regclass('workspace_versions') IS NOT NULL`).Scan(&there)
		if err == nil && !there { // the last that is made: a user without the right to make tables may use those there are
			_, err = tx.ExecContext(ctx, schema)
		}
		return err
	})
}

func (b *bucket) transact(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // of what failed already
		return err
	}
	return tx.Commit()
}

// lock has the changes of one object follow each other, until the transaction ends.
func lock(ctx context.Context, tx *sql.Tx, key string) error {
	_, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, key)
	return err
}

// Close implements [driver.Bucket].
func (b *bucket) Close() error { return b.db.Close() }

// ErrorCode implements [driver.Bucket].
func (b *bucket) ErrorCode(err error) gcerrors.ErrorCode {
	switch {
	case errors.Is(err, errNotFound):
		return gcerrors.NotFound
	case errors.Is(err, errUnsupported):
		return gcerrors.Unimplemented
	case errors.Is(err, context.Canceled):
		return gcerrors.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return gcerrors.DeadlineExceeded
	}
	return gcerrors.Unknown
}

// As implements [driver.Bucket]; there is nothing below to show.
func (b *bucket) As(any) bool { return false }

// ErrorAs implements [driver.Bucket].
func (b *bucket) ErrorAs(err error, target any) bool { return errors.As(err, target) }

// Attributes implements [driver.Bucket].
func (b *bucket) Attributes(ctx context.Context, key string) (*driver.Attributes, error) {
	a := &driver.Attributes{AsFunc: b.As}
	err := b.db.QueryRowContext(ctx, `SELECT content_type, size, md5, modified FROM workspace_objects WHERE key = $1`, key).
		Scan(&a.ContentType, &a.Size, &a.MD5, &a.ModTime)
	if errors.Is(err, sql.ErrNoRows) {
		err = errNotFound
	}
	a.ETag = fmt.Sprintf(`"%x-%x"`, a.ModTime.UnixNano(), a.Size)
	return a, err
}

// ListPaged implements [driver.Bucket]. A page's token is its last key.
func (b *bucket) ListPaged(ctx context.Context, o *driver.ListOptions) (*driver.ListPage, error) {
	if o.Delimiter != "" {
		return nil, errUnsupported
	}
	size := o.PageSize
	if size == 0 {
		size = 1000
	}
	// No key that begins with the prefix comes after the prefix and the last of all characters.
	rows, err := b.db.QueryContext(ctx, `
		SELECT key, size, md5, modified FROM workspace_objects
		WHERE key >= $1 AND key < $1 || U&'\+10FFFF' AND key > $2 ORDER BY key LIMIT $3`, o.Prefix, string(o.PageToken), size+1)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	page := &driver.ListPage{}
	for rows.Next() {
		object := &driver.ListObject{AsFunc: b.As}
		if err := rows.Scan(&object.Key, &object.Size, &object.MD5, &object.ModTime); err != nil {
			return nil, err
		}
		page.Objects = append(page.Objects, object)
	}
	if len(page.Objects) > size {
		page.Objects = page.Objects[:size]
		page.NextPageToken = []byte(page.Objects[size-1].Key)
	}
	return page, rows.Err()
}

// Delete implements [driver.Bucket].
func (b *bucket) Delete(ctx context.Context, key string, _ *driver.DeleteOptions) error {
	return b.transact(ctx, func(tx *sql.Tx) error {
		if err := lock(ctx, tx, key); err != nil {
			return err
		}
		var version int64
		err := tx.QueryRowContext(ctx, `DELETE FROM workspace_objects WHERE key = $1 RETURNING version`, key).Scan(&version)
		if errors.Is(err, sql.ErrNoRows) {
			return errNotFound
		}
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM workspace_parts WHERE version = $1`, version)
		return err
	})
}

// Copy implements [driver.Bucket].
func (b *bucket) Copy(context.Context, string, string, *driver.CopyOptions) error {
	return errUnsupported
}

// SignedURL implements [driver.Bucket].
func (b *bucket) SignedURL(context.Context, string, *driver.SignedURLOptions) (string, error) {
	return "", errUnsupported
}
