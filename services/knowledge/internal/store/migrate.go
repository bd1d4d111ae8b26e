package store

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	goosedb "github.com/pressly/goose/v3/database"

	"github.com/hecaton-dev/hecaton/services/knowledge/internal/store/migrations"
)

// versions is the table of what was migrated: the agent server may keep its own in the same database.
const versions = "kb_versions"

// migrate brings the schema up to date. The caller holds a lock that keeps other pods from doing the same.
func migrate(ctx context.Context, dialect goose.Dialect, dir string, db *sql.DB) error {
	files, err := fs.Sub(migrations.Files, dir)
	if err != nil {
		return fmt.Errorf("store: migrations: %w", err)
	}
	own, err := goosedb.NewStore(dialect, versions)
	if err != nil {
		return fmt.Errorf("store: migrations: %w", err)
	}
	provider, err := goose.NewProvider("", db, files, goose.WithStore(own))
	if err != nil {
		return fmt.Errorf("store: migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("store: migrate: %w", err)
	}
	return nil
}
