package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
)

// Quota is how much one user may keep; 0 is no limit.
type Quota struct {
	Bases     int
	Documents int
	Bytes     int64
}

// Options say where a store is.
type Options struct {
	// URL is postgres://user:password@host/database?..., or sqlite:///absolute/path/file.db; required.
	URL config.Secret
	// Quota of each user.
	Quota Quota
	// Logger hears of what the database lacks; nil discards.
	Logger *slog.Logger
}

// Store is one pod's access to the database. Its methods may be called from several goroutines. Errors for callers are
// *errs.Error; of a database that is away KNOWLEDGE_UNAVAILABLE.
type Store struct {
	// Static after construction.
	db      *database
	vectors vectors
	quota   Quota

	mu   sync.Mutex
	dims map[string]int // of models, as the database has them; guarded by mu
}

// Open connects, and brings the schema up to date: several pods may do so at once. It waits for a server that cannot be reached
// until ctx ends.
func Open(ctx context.Context, o Options) (*Store, error) {
	if err := errors.Join(options.Require("store", map[string]bool{"URL": o.URL == ""}), options.NotNegative("store", map[string]int64{
		"Quota.Bases": int64(o.Quota.Bases), "Quota.Documents": int64(o.Quota.Documents), "Quota.Bytes": o.Quota.Bytes,
	})); err != nil {
		return nil, err
	}
	s := &Store{quota: o.Quota, dims: map[string]int{}, vectors: plainVectors{}}
	var err error
	switch scheme, _, _ := strings.Cut(o.URL.Reveal(), ":"); scheme {
	case "postgres", "postgresql":
		var pgvector bool
		s.db, pgvector, err = openPostgres(ctx, o.URL.Reveal(), obs.OrDiscard(o.Logger))
		if pgvector {
			s.vectors = &pgVectors{indexed: map[int]bool{}}
		}
	case "sqlite":
		s.db, err = openSQLite(ctx, o.URL.Reveal())
	default:
		err = fmt.Errorf("store: the URL begins with neither postgres:// nor sqlite://")
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Close ends all connections.
func (s *Store) Close() error { return s.db.close() }

// Check reports whether the database answers; it does not retry.
func (s *Store) Check(ctx context.Context) error {
	var n int
	return s.db.reads.QueryRowContext(ctx, "SELECT 1").Scan(&n)
}
