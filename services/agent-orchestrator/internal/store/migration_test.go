package store_test

import (
	"database/sql"
	"io/fs"
	"slices"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/migrations"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
)

// before is a database as the release had it before entries of allow-lists had sources.
const before = `
INSERT INTO users (user_id, mode) VALUES ('ann', 'use_allowlist'), ('one', 'use_allowlist'), ('chose', 'run_everything'), ('listed', 'run_everything'), ('saved', 'run_everything');
INSERT INTO allowlist (user_id, tool) VALUES ('ann', 'click'), ('ann', 'find'), ('ann', 'notes__look'), ('ann', 'look'), ('ann', 'never'),
	('ann', 'workspace_write'), ('one', 'find'), ('one', 'click'), ('listed', 'click');
INSERT INTO tools (user_id, id, type, name, enabled, created, updated) VALUES
	('ann', '1', 'mcp', 'notes', 1, 1, 1), ('ann', '2', 'mcp', 'evil', 1, 1, 1), ('ann', '3', 'oauth', 'github', 1, 1, 1),
	('one', '1', 'mcp', 'only', 1, 1, 1), ('saved', '1', 'mcp', 'only', 1, 1, 1), ('listed', '1', 'mcp', 'only', 1, 1, 1);
INSERT INTO sessions (id, user_id, session_id, title, status, mode, run_id, finish_reason, last_seq, last_index, covered, answer, steps,
	streaming, cancel, token, owner, lease_until, change, created, updated) VALUES
	(1, 'ann', 's', '', 'idle', 'agent', 'r', 'stop', 0, 0, 0, 0, 0, '', 0, 1, '', 0, 0, 1, 1),
	(2, 'one', 's', '', 'idle', 'agent', 'r', 'stop', 0, 0, 0, 0, 0, '', 0, 1, '', 0, 0, 1, 1);
INSERT INTO calls (session, id, run_id, message, position, tool, state, node, node_mark, digest, interrupt, decision, reason, expires, decided) VALUES
	(1, 'a', 'r', 1, 0, 'click', 'ended', 'desk', 'm', '', '', '', '', 0, 0),
	(1, 'b', 'r', 1, 1, 'click', 'ended', 'desk', 'm', '', '', 'approved', '', 0, 0),
	(1, 'c', 'r', 1, 2, 'click', 'ended', 'web', 'm', '', '', 'rejected', '', 0, 0),
	(1, 'd', 'r', 1, 3, 'find', 'ended', '', 'mcp|notes', '', '', '', '', 0, 0),
	(1, 'e', 'r', 1, 4, 'find', 'waiting', '', 'mcp|evil', '', 'i', '', '', 0, 0),
	(2, 'f', 'r', 1, 0, 'click', 'ended', 'desk', 'm', '', '', '', '', 0, 0);
`

// Names on the lists go on to allow what they allowed, and nothing that the name had not stood for.
func TestOldAllowlistsAreCarriedOver(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]struct {
		dialect goose.Dialect
		driver  string
		url     func(testing.TB) string
	}{
		"sqlite":   {goose.DialectSQLite3, "sqlite", storetest.SQLite},
		"postgres": {goose.DialectPostgres, "pgx", testkit.Postgres},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := at.url(t)
			db, err := sql.Open(at.driver, strings.TrimPrefix(url, "sqlite://"))
			must(t, err, nil)
			files, err := fs.Sub(migrations.Files, name)
			must(t, err, nil)
			old, err := goose.NewProvider(at.dialect, db, files)
			must(t, err, nil)
			_, err = old.UpTo(t.Context(), 3)
			must(t, err, nil)
			_, err = db.ExecContext(t.Context(), before)
			must(t, err, nil)
			must(t, db.Close(), nil)

			s := storetest.At(t, url)
			node := func(id, tool string) store.AllowedTool {
				return store.AllowedTool{Layer: "connector", Source: id, Tool: tool}
			}
			server := func(name, tool string) store.AllowedTool {
				return store.AllowedTool{Layer: "mcp", Source: name, Tool: tool}
			}
			wantApprovals(t, s, "use_allowlist",
				store.AllowedTool{Tool: "click"}, node("desk", "click"), store.AllowedTool{Tool: "find"}, server("notes", "find"),
				store.AllowedTool{Tool: "look"}, server("notes", "look"), store.AllowedTool{Tool: "never"},
				store.AllowedTool{Tool: "notes__look"}, store.AllowedTool{Tool: "workspace_write"})
			for user, want := range map[string]store.ApprovalSettings{
				"chose":  {Mode: "run_everything"},
				"listed": {Mode: "run_everything", Allowed: []store.AllowedTool{{Tool: "click"}, server("only", "click")}},
				"saved":  {Mode: "use_allowlist"}, // it had a row, and had chosen nothing
				"one": {Mode: "use_allowlist", Allowed: []store.AllowedTool{
					{Tool: "click"}, node("desk", "click"), {Tool: "find"}, server("only", "find"), // not the server's click: it was the node's
				}},
			} {
				got, err := s.ApprovalSettings(t.Context(), ids.UserID(user))
				if err != nil || got.Mode != want.Mode || !slices.Equal(got.Allowed, want.Allowed) {
					t.Errorf("%s: %+v, %v", user, got, err)
				}
			}
		})
	}
}
