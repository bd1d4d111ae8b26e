package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

const (
	// maxConns is how many connections one pod opens.
	maxConns = 12
	// migrationLock is the advisory lock under which the schema is changed; any number that nothing else uses.
	migrationLock = 0x6865636b62 // "heckb"
)

// nearest makes a filtered search of the HNSW index go on until it has enough rows: without it, a search for one user's rows among
// many returns what happens to be among the first few.
const nearest = `SET hnsw.iterative_scan = strict_order; SET hnsw.ef_search = 200; SET hnsw.max_scan_tuples = 200000`

// openPostgres returns the database, and whether it has pgvector.
func openPostgres(ctx context.Context, url string, log *slog.Logger) (*database, bool, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, false, fmt.Errorf("store: the URL of PostgreSQL: %w", err) // pgx leaves the password out
	}
	renewed := stdlib.OptionBeforeConnect(func(_ context.Context, c *pgx.ConnConfig) error {
		fresh, err := pgx.ParseConfig(url) // reads the files of certificates, which are renewed in place
		if err == nil {
			c.TLSConfig, c.Fallbacks = fresh.TLSConfig, fresh.Fallbacks
		}
		return err
	})
	db := stdlib.OpenDB(*config, renewed, stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, nearest)
		return err
	}))
	db.SetMaxOpenConns(maxConns)
	db.SetMaxIdleConns(maxConns)
	db.SetConnMaxIdleTime(5 * time.Minute)
	pgvector, err := beginPostgres(ctx, db, log)
	if err != nil {
		return nil, false, errors.Join(err, db.Close())
	}
	return &database{
		writes: db, reads: db, dollar: true, transient: postgresAway,
		words: map[string]string{
			// Not now(): that is the time at which the transaction began, and it may have waited for a lock since.
			"now":         `(extract(epoch FROM clock_timestamp()) * 1000)::bigint`,
			"skip locked": `FOR UPDATE SKIP LOCKED`,
			"for update":  `FOR UPDATE`,
		},
	}, pgvector, nil
}

// beginPostgres waits for a server that is not up yet, as when everything starts at once, and brings the schema up to date.
func beginPostgres(ctx context.Context, db *sql.DB, log *slog.Logger) (pgvector bool, err error) {
	for wait := firstWait; ; wait = min(2*wait, longWait) {
		pgvector, err := migratePostgres(ctx, db, log)
		if err == nil || ctx.Err() != nil || !postgresAway(err) {
			return pgvector, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return false, errors.Join(err, ctx.Err())
		}
	}
}

func migratePostgres(ctx context.Context, db *sql.DB, log *slog.Logger) (pgvector bool, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return false, fmt.Errorf("store: connect: %w", err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", int64(migrationLock)); err != nil {
		return false, fmt.Errorf("store: lock the schema: %w", err)
	}
	defer func() {
		_, unlock := conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", int64(migrationLock))
		err = errors.Join(err, unlock)
	}()
	if err := migrate(ctx, goose.DialectPostgres, "postgres", db); err != nil {
		return false, err
	}
	return havePgvector(ctx, conn, log)
}

// havePgvector makes the extension and its table, and reports false where the server has none, or this user may not make it.
func havePgvector(ctx context.Context, conn *sql.Conn, log *slog.Logger) (bool, error) {
	if _, err := conn.ExecContext(ctx, `CREATE EXTENSION IF NOT EXISTS vector`); err != nil {
		var refused *pgconn.PgError
		if !errors.As(err, &refused) {
			return false, fmt.Errorf("store: %w", err)
		}
		log.LogAttrs(ctx, slog.LevelWarn, "PostgreSQL has no extension vector: vectors are searched one by one, which is slow in large bases",
			slog.String("error", refused.Message))
		return false, nil
	}
	_, err := conn.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS kb_embeddings (
		chunk_id bigint PRIMARY KEY,
		base_num bigint NOT NULL,
		model text NOT NULL,
		dimensions integer NOT NULL,
		embedding vector NOT NULL
	); CREATE INDEX IF NOT EXISTS kb_embeddings_of_base ON kb_embeddings (base_num)`)
	if err != nil {
		return false, fmt.Errorf("store: table of vectors: %w", err)
	}
	return true, nil
}

// postgresAway holds for errors by which the server says that it is unavailable, and for every error of the connection. After
// such an error the statements may have run.
func postgresAway(err error) bool {
	var own *pgconn.PgError
	if errors.As(err, &own) {
		switch own.Code {
		case "40001", "40P01", // serialization_failure, deadlock_detected
			"53300",                   // too_many_connections
			"57P01", "57P02", "57P03", // admin_shutdown, crash_shutdown, cannot_connect_now
			"25006": // read_only_sql_transaction: the old primary, after a failover
			return true
		}
		return strings.HasPrefix(own.Code, "08") // connection_exception
	}
	var network net.Error
	var connect *pgconn.ConnectError
	return pgconn.SafeToRetry(err) || errors.As(err, &network) || errors.As(err, &connect) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone)
}
