package store

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/migrations"
)

// migrate brings the schema up to date. The caller holds a lock that keeps other pods from doing the same.
func migrate(ctx context.Context, dialect goose.Dialect, dir string, db *sql.DB) error {
	files, err := fs.Sub(migrations.Files, dir)
	if err != nil {
		return fmt.Errorf("store: migrations: %w", err)
	}
	provider, err := goose.NewProvider(dialect, db, files)
	if err != nil {
		return fmt.Errorf("store: migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("store: migrate: %w", err)
	}
	return nil
}
