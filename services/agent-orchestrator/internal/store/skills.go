package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// SavedSkill is the entry of a skill in the index.
type SavedSkill struct {
	Name string
	// Bundled says that the skill comes with the server: then only Enabled and Priority mean something.
	Bundled  bool
	Source   string
	Enabled  bool
	Priority int
	About    []byte // JSON, which the store does not read
	Body     string
	Files    []byte // likewise
	Size     int    // of SKILL.md
	Sum      string // of SKILL.md
	Updated  time.Time
}

const (
	// skillLock is how long a change of skills may take, by the database's clock: then others may begin one.
	skillLock = time.Minute
	// skillPatience is how long a change waits for one that goes on.
	skillPatience = 15 * time.Second
)

// Skills returns the entries of a user, without bodies, by name.
func (s *Store) Skills(ctx context.Context, user ids.UserID) ([]SavedSkill, error) {
	return s.skills(ctx, `'' AS body`, `user_id = ?`, string(user))
}

// SkillsWithBodies returns those of the user's entries, not of bundled skills, that have one of the names.
func (s *Store) SkillsWithBodies(ctx context.Context, user ids.UserID, names []string) ([]SavedSkill, error) {
	if len(names) == 0 {
		return nil, nil
	}
	args := []any{string(user)}
	for _, name := range names {
		args = append(args, plain(name))
	}
	return s.skills(ctx, `body`, `user_id = ? AND bundled = 0 AND name IN (`+marks(len(names))+`)`, args...)
}

func (s *Store) skills(ctx context.Context, body, condition string, args ...any) (out []SavedSkill, err error) {
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		out = nil
		return s.db.read(ctx, []statement{{
			sql: `SELECT name, bundled, source, enabled, priority, about, ` + body + `, files, size, sum, updated FROM skills WHERE ` +
				condition + ` ORDER BY name`,
			args: args,
			row: func(scan func(...any) error) error {
				var k SavedSkill
				var bundled, enabled, priority, size, updated int64
				var about, files string
				err := scan(&k.Name, &bundled, &k.Source, &enabled, &priority, &about, &k.Body, &files, &size, &k.Sum, &updated)
				k.Bundled, k.Enabled, k.Priority, k.Size, k.Updated = bundled != 0, enabled != 0, int(priority), int(size), moment(updated)
				k.About, k.Files = json.RawMessage(about), json.RawMessage(files)
				out = append(out, k)
				return err
			},
		}})
	})
	return out, err
}

// SkillChange is the right to change a user's skills, which one caller of all pods has at a time. Its entries are written only
// as long as it holds.
type SkillChange struct {
	store *Store
	user  ids.UserID
	token string
}

// ChangeSkills waits for the right. Call End.
func (s *Store) ChangeSkills(ctx context.Context, user ids.UserID) (*SkillChange, error) {
	c := &SkillChange{store: s, user: user, token: rand.Text()}
	err := s.retry(ctx, skillPatience, func(ctx context.Context) error {
		return s.db.write(ctx, []statement{{
			sql: `INSERT INTO skill_locks (user_id, token, until) VALUES (?, ?, {now} + ?)
				ON CONFLICT (user_id) DO UPDATE SET token = excluded.token, until = excluded.until
				WHERE skill_locks.until < {now} OR skill_locks.token = excluded.token`,
			args: []any{string(user), c.token, skillLock.Milliseconds()}, must: 1,
		}})
	})
	return c, err
}

// End gives the right back.
func (c *SkillChange) End(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	return c.store.retry(ctx, shortPatience, func(ctx context.Context) error {
		return c.store.db.write(ctx, []statement{{
			sql: `DELETE FROM skill_locks WHERE user_id = ? AND token = ?`, args: []any{string(c.user), c.token},
		}})
	})
}

// Put writes entries of the user's own, and removes those of the given names. The error is AGENT_UNAVAILABLE where another change
// has begun meanwhile.
func (c *SkillChange) Put(ctx context.Context, put []SavedSkill, remove []string) error {
	statements := []statement{{
		sql:  `UPDATE skill_locks SET until = until WHERE user_id = ? AND token = ?`,
		args: []any{string(c.user), c.token}, must: 1,
	}}
	for _, name := range remove {
		statements = append(statements, statement{
			sql: `DELETE FROM skills WHERE user_id = ? AND name = ? AND bundled = 0`, args: []any{string(c.user), plain(name)},
		})
	}
	rows := make([][]any, len(put))
	for i := range put {
		k := &put[i]
		rows[i] = []any{
			string(c.user), plain(k.Name), 0, plain(k.Source), digit(k.Enabled), k.Priority, string(k.About), plain(k.Body), string(k.Files), k.Size,
			plain(k.Sum), millis(k.Updated),
		}
	}
	statements = append(statements, inserts(
		`INSERT INTO skills (user_id, name, bundled, source, enabled, priority, about, body, files, size, sum, updated)`,
		`ON CONFLICT (user_id, name, bundled) DO UPDATE SET source = excluded.source, enabled = excluded.enabled, priority = excluded.priority,
			about = excluded.about, body = excluded.body, files = excluded.files, size = excluded.size, sum = excluded.sum, updated = excluded.updated`,
		rows)...)
	err := once(ctx, func(ctx context.Context) error { return c.store.db.write(ctx, statements) })
	if errors.Is(err, errUnmet) {
		return errs.New(errs.AgentUnavailable, "the change took too long, and another one has begun; try again")
	}
	return c.store.explain(ctx, err)
}

// explain hides why the database failed.
func (s *Store) explain(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || !s.passing(err) {
		return err
	}
	return &errs.Error{Reason: errs.AgentUnavailable, Message: "the database cannot be reached at the moment; try again", Err: err}
}

// SetSkill sets what a user can set of one skill, which is there; nil changes nothing. For a bundled one usual is what holds
// until somebody sets something else.
func (s *Store) SetSkill(ctx context.Context, user ids.UserID, usual SavedSkill, enabled *bool, priority *int) error {
	var on, rank any
	if enabled != nil {
		on = digit(*enabled)
	}
	if priority != nil {
		rank = *priority
	}
	update := statement{
		sql: `UPDATE skills SET enabled = COALESCE(?, enabled), priority = COALESCE(?, priority), updated = {now}
			WHERE user_id = ? AND name = ? AND bundled = ?`,
		args: []any{on, rank, string(user), plain(usual.Name), digit(usual.Bundled)},
	}
	statements := []statement{update}
	if usual.Bundled {
		statements = []statement{{
			sql: `INSERT INTO skills (user_id, name, bundled, source, enabled, priority, about, body, files, size, sum, updated)
				VALUES (?, ?, 1, ?, ?, ?, '', '', '', 0, '', {now}) ON CONFLICT (user_id, name, bundled) DO NOTHING`,
			args: []any{string(user), plain(usual.Name), plain(usual.Source), digit(usual.Enabled), usual.Priority},
		}, update}
	}
	return s.retry(ctx, shortPatience, func(ctx context.Context) error { return s.db.write(ctx, statements) })
}
