package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

const (
	// maxConns is how many connections one pod opens. A commit keeps one for a single round trip.
	maxConns = 16
	// postgresLanes is how many transactions of several runs' changes run at one time: one waits for the disk while the next
	// one runs.
	postgresLanes = 4
	// migrationLock is the advisory lock under which schemas are changed; any number that nothing else uses.
	migrationLock = 0x6865636174 // "hecat"
)

// keysOnly makes PostgreSQL find rows by their keys, as every statement of this package needs. A plan that was made while a
// table was small would read the whole table, and is used until the table is analysed.
//
// Such a plan does not depend on the parameters, so each statement is planned once for a connection.
const keysOnly = `SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET plan_cache_mode = force_generic_plan`

// postgres sends every transaction in one round trip: its statements are pipelined, and the server treats what comes
// before the pipeline's end as one transaction.
type postgres struct {
	db      *sql.DB
	dialect dialect
}

func openPostgres(ctx context.Context, url string, log *slog.Logger) (*postgres, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("store: the URL of PostgreSQL: %w", err) // pgx leaves the password out
	}
	renewed := stdlib.OptionBeforeConnect(func(_ context.Context, c *pgx.ConnConfig) error {
		fresh, err := pgx.ParseConfig(url) // reads the files of certificates, which are renewed in place
		if err == nil {
			c.TLSConfig, c.Fallbacks = fresh.TLSConfig, fresh.Fallbacks
		}
		return err
	})
	db := stdlib.OpenDB(*config, renewed, stdlib.OptionAfterConnect(func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, keysOnly)
		return err
	}))
	db.SetMaxOpenConns(maxConns)
	db.SetMaxIdleConns(maxConns)
	db.SetConnMaxIdleTime(5 * time.Minute)
	p := &postgres{db: db, dialect: dialect{dollar: true, words: words{
		// Not now(): that is the time at which the transaction began, and it may have waited for a lock since.
		"now": `(extract(epoch FROM clock_timestamp()) * 1000)::bigint`,
		// Locked in the order of ids, as a group of commits locks them: transactions with different orders could deadlock.
		"pairs": `SELECT s.id AS pair_id, s.token AS pair_token FROM sessions s JOIN (
			SELECT (p->>0)::bigint AS listed_id, (p->>1)::bigint AS listed_token FROM jsonb_array_elements(?::jsonb) AS p
			) AS listed ON s.id = listed_id AND s.token = listed_token ORDER BY s.id FOR UPDATE OF s`,
		"skip locked": `FOR UPDATE SKIP LOCKED`,
		// Not a condition of the index of running sessions, which would be read whole.
		"or fail":    ``,
		"is running": `status || '' = 'running'`,
	}}}
	if err := p.begin(ctx, log); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return p, nil
}

// begin waits for a server that is not up yet, as when everything starts at once: if the program exited instead, it would
// be restarted after longer and longer pauses.
func (p *postgres) begin(ctx context.Context, log *slog.Logger) error {
	for wait := firstWait; ; wait = min(2*wait, longWait) {
		err := p.migrate(ctx)
		if err == nil || ctx.Err() != nil || !p.transient(err) {
			return err
		}
		if wait < longWait && 2*wait >= longWait { // once
			log.LogAttrs(ctx, slog.LevelWarn, "waiting for the database", slog.Any("err", err))
		}
		select {
		case <-time.After(wait/2 + rand.N(wait)):
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
}

func (p *postgres) migrate(ctx context.Context) error {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("store: connect: %w", err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		return fmt.Errorf("store: lock the schema: %w", err)
	}
	err = migrate(ctx, goose.DialectPostgres, "postgres", p.db)
	_, unlock := conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", migrationLock)
	return errors.Join(err, unlock)
}

func (p *postgres) write(ctx context.Context, statements []statement) error {
	return p.pipeline(ctx, statements, false)
}

func (p *postgres) read(ctx context.Context, queries []statement) error {
	return p.pipeline(ctx, queries, len(queries) > 1)
}

// pipeline sends statements and the end of their transaction at once. A snapshot is a transaction that sees nothing that
// is committed after its beginning.
func (p *postgres) pipeline(ctx context.Context, statements []statement, snapshot bool) error {
	conn, err := p.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(c any) error {
		own := c.(*stdlib.Conn).Conn()
		err := p.send(ctx, own, statements, snapshot)
		if err != nil && !own.IsClosed() && own.PgConn().TxStatus() != 'I' {
			_ = own.Close(context.WithoutCancel(ctx)) // a connection that is still in a transaction cannot be used again
		}
		return err
	})
}

func (p *postgres) send(ctx context.Context, conn *pgx.Conn, statements []statement, snapshot bool) error {
	batch := &pgx.Batch{}
	if snapshot {
		batch.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	}
	for i := range statements {
		text, args := p.dialect.text(statements[i].sql), statements[i].args
		switch statements[i].must {
		case 0:
		case 1:
			// If it changed nothing, the division fails, and with it every statement that was sent after it.
			text = "WITH changed AS (" + text + " RETURNING 1) SELECT 1 / count(*) FROM changed"
		default:
			args = append(args, statements[i].must)
			text = "WITH changed AS (" + text + " RETURNING 1) SELECT 1 / (count(*) / $" + strconv.Itoa(len(args)) + "::bigint) FROM changed"
		}
		batch.Queue(text, args...)
	}
	if snapshot {
		batch.Queue("COMMIT")
	}
	results := conn.SendBatch(ctx, batch)
	err := receive(results, statements, snapshot)
	if end := results.Close(); err == nil {
		err = end
	}
	return named(err)
}

func receive(results pgx.BatchResults, statements []statement, snapshot bool) error {
	if snapshot {
		if _, err := results.Exec(); err != nil {
			return err
		}
	}
	for i := range statements {
		rows, err := results.Query()
		if err != nil {
			return err
		}
		for rows.Next() {
			if row := statements[i].row; row != nil {
				if err := row(rows.Scan); err != nil {
					rows.Close()
					return err
				}
			}
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	if snapshot {
		_, err := results.Exec()
		return err
	}
	return nil
}

// named turns the errors that callers check for into errUnmet and errTaken.
func named(err error) error {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		switch e.Code {
		case "22012": // division_by_zero: see send
			return errUnmet
		case "23505": // unique_violation
			return fmt.Errorf("%w: %w", errTaken, err)
		}
	}
	return err
}

func (p *postgres) ping(ctx context.Context) error { return p.db.PingContext(ctx) }

func (p *postgres) close() error { return p.db.Close() }

// transient holds for errors by which the server says that it is unavailable, and for every error of the connection. After
// such an error the statements may have run: every attempt looks before it writes.
func (p *postgres) transient(err error) bool {
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
