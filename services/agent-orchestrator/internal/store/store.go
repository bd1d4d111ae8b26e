package store

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
)

// Options say where a store is.
type Options struct {
	// URL is postgres://user:password@host/database?..., or sqlite:///absolute/path/file.db.
	URL config.Secret
	// Patience is how long a Commit retries during an outage of the database; 0 means 15 s. Everything else gives up after 2 s.
	Patience time.Duration
	// Allowed is the allow-list of users who have never saved approval settings, in mode use_allowlist.
	Allowed []AllowedTool
	// Logger hears of outages; nil discards.
	Logger *slog.Logger
	// Metrics count transactions; nil: they are not counted.
	Metrics prometheus.Registerer
	// Tracing makes spans of what is done for something traced; nil: there are none.
	Tracing *obs.Tracing
}

// Store is one pod's access to the database. Its methods may be called from several goroutines; Commits of one lease must
// come one after the other.
//
// If the database cannot be reached in time, every method's error is [errs.AgentUnavailable].
type Store struct {
	db       database
	allowed  []AllowedTool
	commits  *group
	tracer   *tracer // of commits, which may share a transaction
	patience time.Duration
	log      *slog.Logger
}

// Open connects, and brings the schema up to date: several pods may do so at once. It waits for a server that cannot be
// reached until ctx ends.
func Open(ctx context.Context, o Options) (*Store, error) {
	if err := options.NotNegative("store", map[string]int64{"Patience": int64(o.Patience)}); err != nil {
		return nil, err
	}
	if o.Patience == 0 {
		o.Patience = 15 * time.Second
	}
	s := &Store{patience: o.Patience, allowed: o.Allowed, log: obs.OrDiscard(o.Logger)}
	url := o.URL.Reveal()
	scheme, _, _ := strings.Cut(url, ":")
	switch scheme {
	case "postgres", "postgresql":
		db, err := openPostgres(ctx, url, s.log)
		if err != nil {
			return nil, err
		}
		s.tracer = newTracer(o.Tracing, "postgresql")
		s.serve(measure(db, o.Metrics), postgresLanes)
	case "sqlite":
		path, ok := strings.CutPrefix(url, "sqlite://")
		if !ok || !strings.HasPrefix(path, "/") {
			return nil, fmt.Errorf("store: the URL of an SQLite file is sqlite:// and its absolute path")
		}
		db, err := openSQLite(ctx, path)
		if err != nil {
			return nil, err
		}
		s.tracer = newTracer(o.Tracing, "sqlite")
		s.serve(measure(db, o.Metrics), 1)
	default:
		return nil, fmt.Errorf("store: the URL begins with neither postgres:// nor sqlite://")
	}
	return s, nil
}

func (s *Store) serve(db database, lanes int) {
	s.db, s.commits = db, &group{db: db, lanes: lanes}
	if s.tracer != nil {
		s.db = traced{db, s.tracer}
	}
}

// Close ends all connections.
func (s *Store) Close() error {
	s.commits.close()
	return s.db.close()
}

// Check reports whether the database answers; it does not retry.
func (s *Store) Check(ctx context.Context) error { return s.db.ping(ctx) }
