package store

import (
	"context"
	"slices"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// newUser is the approval mode of a user who has chosen none (facts, 5.1).
const newUser = "run_everything"

// ApprovalSettings returns a user's mode ("run_everything" for a new user) and allowlist, sorted.
func (s *Store) ApprovalSettings(ctx context.Context, user ids.UserID) (mode string, allowlist []string, err error) {
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		mode, allowlist = newUser, nil
		return s.db.read(ctx, []statement{{
			sql: `SELECT mode FROM users WHERE user_id = ?`, args: []any{string(user)},
			row: func(scan func(...any) error) error { return scan(&mode) },
		}, {
			sql: `SELECT tool FROM allowlist WHERE user_id = ?`, args: []any{string(user)},
			row: func(scan func(...any) error) error {
				var tool string
				err := scan(&tool)
				allowlist = append(allowlist, tool)
				return err
			},
		}})
	})
	slices.Sort(allowlist) // here, because databases sort by their own rules
	return mode, allowlist, err
}

// lockUser holds the row of a user until the transaction ends: what a user sets up is changed by one at a time.
func lockUser(user ids.UserID) statement {
	return statement{
		sql:  `INSERT INTO users (user_id, mode) VALUES (?, ?) ON CONFLICT (user_id) DO UPDATE SET mode = users.mode`,
		args: []any{string(user), newUser},
	}
}

// SetApprovalSettings replaces both; mode "" keeps the mode. A tool named twice counts once.
func (s *Store) SetApprovalSettings(ctx context.Context, user ids.UserID, mode string, allowlist []string) error {
	statements := []statement{lockUser(user)}
	if mode != "" {
		statements = append(statements, statement{
			sql: `UPDATE users SET mode = ? WHERE user_id = ?`, args: []any{plain(mode), string(user)},
		})
	}
	statements = append(statements, statement{sql: `DELETE FROM allowlist WHERE user_id = ?`, args: []any{string(user)}})
	rows := make([][]any, len(allowlist))
	for i, tool := range allowlist {
		rows[i] = []any{string(user), plain(tool)}
	}
	statements = append(statements,
		inserts(`INSERT INTO allowlist (user_id, tool)`, `ON CONFLICT (user_id, tool) DO NOTHING`, rows)...)
	return s.retry(ctx, shortPatience, func(ctx context.Context) error { return s.db.write(ctx, statements) })
}
