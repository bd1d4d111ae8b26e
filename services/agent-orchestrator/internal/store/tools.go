package store

import (
	"context"
	"errors"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// SavedTool is one tool configuration of a user.
type SavedTool struct {
	ID   string // chosen by the caller
	User ids.UserID
	Type string // mcp or oauth
	// Name is unique among the user's.
	Name    string
	Enabled bool
	Config  []byte // JSON
	Secrets []byte // sealed by the caller, opaque here
	Created time.Time
	Updated time.Time
}

// MaxSavedTools is how many tools a user may save.
const MaxSavedTools = 100

const toolColumns = `SELECT id, type, name, enabled, config, secrets, created, updated FROM tools WHERE user_id = ?`

// tools reads those of a user that a condition holds for.
func (s *Store) tools(ctx context.Context, user ids.UserID, condition string, args ...any) ([]SavedTool, error) {
	var out []SavedTool
	err := s.db.read(ctx, []statement{{
		sql: toolColumns + condition + ` ORDER BY created, id`, args: append([]any{string(user)}, args...),
		row: func(scan func(...any) error) error {
			t := SavedTool{User: user}
			var enabled, created, updated int64
			err := scan(&t.ID, &t.Type, &t.Name, &enabled, &t.Config, &t.Secrets, &created, &updated)
			t.Enabled, t.Created, t.Updated = enabled != 0, moment(created), moment(updated)
			out = append(out, t)
			return err
		},
	}})
	return out, err
}

// ListTools returns a user's tools, the oldest first.
func (s *Store) ListTools(ctx context.Context, user ids.UserID) (out []SavedTool, err error) {
	err = s.retry(ctx, shortPatience, func(ctx context.Context) (err error) {
		out, err = s.tools(ctx, user, "")
		return err
	})
	return out, err
}

// GetTool returns one. Errors: [errs.ToolNotFound].
func (s *Store) GetTool(ctx context.Context, user ids.UserID, id string) (out SavedTool, err error) {
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		list, err := s.tools(ctx, user, ` AND id = ?`, plain(id))
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return noTool(id)
		}
		out = list[0]
		return nil
	})
	return out, err
}

func noTool(id string) error { return errs.New(errs.ToolNotFound, "there is no tool %q", id) }

func nameTaken(name string) error {
	return errs.New(errs.NameTaken, "there is a tool named %q already", name)
}

// CreateTool stores a new one, and returns it with its times. Errors: [errs.NameTaken], [errs.LimitReached].
func (s *Store) CreateTool(ctx context.Context, t SavedTool) (SavedTool, error) {
	t.Created = time.UnixMilli(time.Now().UnixMilli()) // milliseconds, as it is stored
	t.Updated = t.Created
	insert := statement{
		sql: `INSERT INTO tools (user_id, id, type, name, enabled, config, secrets, created, updated, in_clear)
			SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, 0 WHERE (SELECT count(*) FROM tools WHERE user_id = ?) < ?`,
		args: []any{
			string(t.User), plain(t.ID), plain(t.Type), plain(t.Name), digit(t.Enabled), t.Config, t.Secrets, millis(t.Created),
			millis(t.Updated), string(t.User), MaxSavedTools,
		},
		must: 1,
	}
	err := s.retry(ctx, shortPatience, func(ctx context.Context) error {
		err := s.db.write(ctx, []statement{lockUser(t.User), insert})
		if !errors.Is(err, errTaken) && !errors.Is(err, errUnmet) {
			return err
		}
		kept, lookup := s.tools(ctx, t.User, ` AND id = ?`, plain(t.ID))
		switch {
		case lookup != nil:
			return lookup
		case len(kept) == 1 && kept[0].Created.Equal(t.Created) && kept[0].Name == t.Name:
			return nil // by an earlier attempt
		case errors.Is(err, errTaken):
			return nameTaken(t.Name)
		default:
			return errs.New(errs.LimitReached, "a user may save at most %d tools", MaxSavedTools)
		}
	})
	return t, err
}

// UpdateTool replaces the one with the same ID and user, and returns it with its times. Errors: [errs.ToolNotFound],
// [errs.NameTaken].
func (s *Store) UpdateTool(ctx context.Context, t SavedTool) (SavedTool, error) {
	err := s.retry(ctx, shortPatience, func(ctx context.Context) error {
		err := s.db.write(ctx, []statement{{
			sql: `UPDATE tools SET type = ?, name = ?, enabled = ?, config = ?, secrets = ?, updated = ?, in_clear = 0 WHERE user_id = ? AND id = ?`,
			args: []any{
				plain(t.Type), plain(t.Name), digit(t.Enabled), t.Config, t.Secrets, time.Now().UnixMilli(), string(t.User), plain(t.ID),
			},
			must: 1,
		}})
		switch {
		case errors.Is(err, errUnmet):
			return noTool(t.ID)
		case errors.Is(err, errTaken):
			return nameTaken(t.Name)
		default:
			return err
		}
	})
	if err != nil {
		return SavedTool{}, err
	}
	return s.GetTool(ctx, t.User, t.ID)
}

// ToolsInClear returns tools, of all users, that were stored before everything that may be a secret was sealed. They are those after
// the given tool.
func (s *Store) ToolsInClear(ctx context.Context, after SavedTool, limit int) (out []SavedTool, err error) {
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		out = nil
		return s.db.read(ctx, []statement{{
			sql: `SELECT user_id, id, config, secrets, updated FROM tools WHERE in_clear = 1 AND (user_id, id) > (?, ?)
				ORDER BY user_id, id LIMIT ?`,
			args: []any{string(after.User), after.ID, limit},
			row: func(scan func(...any) error) error {
				var t SavedTool
				var user string
				var updated int64
				err := scan(&user, &t.ID, &t.Config, &t.Secrets, &updated)
				t.User, t.Updated = ids.UserID(user), moment(updated)
				out = append(out, t)
				return err
			},
		}})
	})
	return out, err
}

// SealTool replaces a tool by its sealed form, unless the tool was changed meanwhile.
func (s *Store) SealTool(ctx context.Context, t SavedTool) error {
	return s.retry(ctx, shortPatience, func(ctx context.Context) error {
		return s.db.write(ctx, []statement{{
			sql:  `UPDATE tools SET config = ?, secrets = ?, in_clear = 0 WHERE user_id = ? AND id = ? AND updated = ?`,
			args: []any{t.Config, t.Secrets, string(t.User), plain(t.ID), millis(t.Updated)},
		}})
	})
}

// DeleteTool removes one. Errors: [errs.ToolNotFound].
func (s *Store) DeleteTool(ctx context.Context, user ids.UserID, id string) error {
	attempts := 0
	return s.retry(ctx, shortPatience, func(ctx context.Context) error {
		attempts++
		err := s.db.write(ctx, []statement{{
			sql: `DELETE FROM tools WHERE user_id = ? AND id = ?`, args: []any{string(user), plain(id)}, must: 1,
		}})
		switch {
		case errors.Is(err, errUnmet) && attempts > 1:
			return nil // by an earlier attempt, whose answer was lost
		case errors.Is(err, errUnmet):
			return noTool(id)
		default:
			return err
		}
	})
}

func digit(b bool) int {
	if b {
		return 1
	}
	return 0
}
