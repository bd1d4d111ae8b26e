package store

import (
	"context"
	"errors"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Memory is one thing that a user's agents remember.
type Memory struct {
	ID                      string // chosen by the caller
	Scope, Project, Session string
	Type, Content           string
	// Sum is the same for contents that say the same.
	Sum string
	// Source is user, agent or extracted; SaidIn the session in which it was said.
	Source, SaidIn   string
	Created, Updated time.Time
}

// MaxMemories is how many a user may have.
const MaxMemories = 1000

const memoryColumns = `SELECT id, scope, project_id, session_id, type, content, sum, source, said_in, created, updated FROM memories WHERE user_id = ?`

// Memories returns all of a user's, the last changed first.
func (s *Store) Memories(ctx context.Context, user ids.UserID) (out []Memory, err error) {
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		out = nil
		return s.db.read(ctx, []statement{{
			sql: memoryColumns + ` ORDER BY updated DESC, id`, args: []any{string(user)},
			row: func(scan func(...any) error) error {
				var m Memory
				var created, updated int64
				err := scan(&m.ID, &m.Scope, &m.Project, &m.Session, &m.Type, &m.Content, &m.Sum, &m.Source, &m.SaidIn, &created, &updated)
				m.Created, m.Updated = moment(created), moment(updated)
				out = append(out, m)
				return err
			},
		}})
	})
	return out, err
}

// SaveMemory stores one. Where the same is remembered in its scope, that one gets its type, content, source and time, and keeps its
// id. Errors: [errs.LimitReached].
func (s *Store) SaveMemory(ctx context.Context, user ids.UserID, m Memory) error {
	same := `user_id = ? AND scope = ? AND project_id = ? AND session_id = ? AND sum = ?`
	where := []any{string(user), m.Scope, plain(m.Project), plain(m.Session), m.Sum}
	insert := statement{
		sql: `INSERT INTO memories (user_id, id, scope, project_id, session_id, type, content, sum, source, said_in, created, updated)
			SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {now}, {now}
			WHERE (SELECT count(*) FROM memories WHERE user_id = ?) < ? OR EXISTS (SELECT 1 FROM memories WHERE ` + same + `)
			ON CONFLICT (user_id, scope, project_id, session_id, sum) DO UPDATE SET type = excluded.type, content = excluded.content,
				source = excluded.source, said_in = excluded.said_in, updated = excluded.updated`,
		args: append([]any{
			string(user), m.ID, m.Scope, plain(m.Project), plain(m.Session), m.Type, plain(m.Content), m.Sum, m.Source, plain(m.SaidIn),
			string(user), MaxMemories,
		}, where...),
		must: 1,
	}
	return s.retry(ctx, shortPatience, func(ctx context.Context) error {
		err := s.db.write(ctx, []statement{lockUser(user), insert})
		if errors.Is(err, errUnmet) {
			return errs.New(errs.LimitReached, "at most %d memories are kept of a user; forget some first", MaxMemories)
		}
		return err
	})
}

// ChangeMemory replaces type, content and sum of one. Errors: [errs.MemoryNotFound], [errs.MemoryExists].
func (s *Store) ChangeMemory(ctx context.Context, user ids.UserID, m Memory) error {
	return s.retry(ctx, shortPatience, func(ctx context.Context) error {
		err := s.db.write(ctx, []statement{{
			sql:  `UPDATE memories SET type = ?, content = ?, sum = ?, updated = {now} WHERE user_id = ? AND id = ?`,
			args: []any{m.Type, plain(m.Content), m.Sum, string(user), plain(m.ID)}, must: 1,
		}})
		switch {
		case errors.Is(err, errUnmet):
			return noMemory(m.ID)
		case errors.Is(err, errTaken):
			return errs.New(errs.MemoryExists, "the same is remembered already in this scope")
		}
		return err
	})
}

func noMemory(id string) error { return errs.New(errs.MemoryNotFound, "there is no memory %.100q", id) }

// DeleteMemory forgets one. Errors: [errs.MemoryNotFound].
func (s *Store) DeleteMemory(ctx context.Context, user ids.UserID, id string) error {
	attempts := 0
	return s.retry(ctx, shortPatience, func(ctx context.Context) error {
		attempts++
		err := s.db.write(ctx, []statement{{
			sql: `DELETE FROM memories WHERE user_id = ? AND id = ?`, args: []any{string(user), plain(id)}, must: 1,
		}})
		switch {
		case errors.Is(err, errUnmet) && attempts > 1:
			return nil // by an earlier attempt, whose answer was lost
		case errors.Is(err, errUnmet):
			return noMemory(id)
		}
		return err
	})
}

// ForgetMemories forgets those of a scope, of one project or session where one is named, and returns how many there were.
func (s *Store) ForgetMemories(ctx context.Context, user ids.UserID, scope, project, session string) (n int, err error) {
	const which = ` FROM memories WHERE user_id = ? AND scope = ? AND (? = '' OR project_id = ?) AND (? = '' OR session_id = ?)`
	args := []any{string(user), scope, plain(project), plain(project), plain(session), plain(session)}
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		found := 0
		err := s.db.write(ctx, []statement{
			lockUser(user),
			{sql: `SELECT count(*)` + which, args: args, row: func(scan func(...any) error) error { return scan(&found) }},
			{sql: `DELETE` + which, args: args},
		})
		n = max(n, found) // an earlier attempt may have done it, and its answer was lost
		return err
	})
	return n, err
}
