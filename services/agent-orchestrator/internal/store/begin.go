package store

import (
	"context"
	"errors"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Begin says which run is to begin.
type Begin struct {
	Ref
	// Run is the new run's id, never used before.
	Run string
	// Owner is the pod that will hold the lease, for TTL.
	Owner string
	TTL   time.Duration
	// Title is kept where the session is new.
	Title    string
	Mode     string
	Settings []byte // sealed by the caller, opaque here
	// Message is the user's text.
	Message string
	// History becomes the session's first messages where it has none yet; Index and Run are set by the store.
	History []Message
	// MaxRuns is how many active runs the user may have; 0 means no limit. Full says that the limit is reached already,
	// even if the store counts fewer.
	MaxRuns int
	Full    bool
	// IdempotencyKey, unless empty, names this request among the user's.
	IdempotencyKey string
}

// AlreadyBegun says that a run was begun with the same key before.
type AlreadyBegun struct {
	Ref
	Run string
	// FirstSeq is the number of the run's first event.
	FirstSeq int64
}

func (e *AlreadyBegun) Error() string { return "store: the key has begun run " + e.Run + " before" }

// Begin starts a run, in a new session where there is none, and appends the user's message. An interrupt whose waiting
// calls have all expired is ended first: they get the decision "timeout" and tool messages that say that nobody decided in
// time.
//
// Errors: [*AlreadyBegun], [errs.RunActive], [errs.Interrupted], [errs.RunsLimited].
func (s *Store) Begin(ctx context.Context, b Begin) (Lease, State, error) {
	for field, id := range map[string]string{"user_id": string(b.User), "session_id": string(b.Session)} {
		if err := ids.Check(field, id); err != nil {
			return Lease{}, State{}, errs.New(errs.InvalidArgument, "%v", err)
		}
	}
	a := &beginning{Begin: b, change: newChange()}
	err := s.retry(ctx, shortPatience, func(ctx context.Context) error { return a.attempt(ctx, s) })
	if err != nil {
		return Lease{}, State{}, err
	}
	return a.kept.lease(), a.kept.State, nil
}

// beginning is one call of Begin.
type beginning struct {
	Begin
	change int64 // names the change of this Begin

	kept    kept
	before  *AlreadyBegun
	running int // active runs of the user
}

// attempt writes and reads in one step. It writes only if the session is idle or absent, and reads back whether it was.
func (a *beginning) attempt(ctx context.Context, s *Store) error {
	statements, err := a.statements()
	if err != nil {
		return err
	}
	if err := s.db.write(ctx, statements); errors.Is(err, errTaken) {
		return errors.Join(errUnmet, err) // the same key, or the same new session, at the same time
	} else if err != nil {
		return err
	}
	switch k := &a.kept; {
	case a.before != nil && a.before.Run != a.Run:
		return a.before
	case k.change == a.change && k.owner == a.Owner && k.Status == Running:
		return nil
	case k.Run.ID == a.Run:
		return ErrLeaseLost // an earlier attempt has begun it, so long ago that another pod took over
	case k.Status == Running:
		return errs.New(errs.RunActive, "session %q has a run that is active", string(a.Session))
	case k.Status == Interrupted:
		if err := s.expire(ctx, a.Ref); err != nil {
			return err
		}
		return a.attempt(ctx, s)
	case a.Full, a.MaxRuns != 0 && a.running >= a.MaxRuns:
		return runsLimited(a.MaxRuns)
	default:
		return errUnmet // it has ended meanwhile
	}
}

// beginSession creates a session, or takes one that is idle, unless the key has begun another run.
const beginSession = `INSERT INTO sessions (id, user_id, session_id, title, status, mode, run_id, finish_reason, last_seq,
		last_index, covered, answer, steps, streaming, cancel, token, owner, lease_until, change, created, updated)
	SELECT ?, ?, ?, ?, 'running', ?, ?, '', 0, ?, 0, 0, 0, '', 0, 1, ?, {now} + ?, ?, {now}, {now}
	WHERE NOT EXISTS (SELECT 1 FROM begun WHERE user_id = ? AND key = ? AND run_id <> ?)
		AND (` + countRuns + `) < ?
	ON CONFLICT (user_id, session_id) DO UPDATE SET status = 'running', mode = excluded.mode, run_id = excluded.run_id,
		finish_reason = '', last_index = sessions.last_index + 1, answer = 0, steps = 0, streaming = '', cancel = 0,
		token = sessions.token + 1, owner = excluded.owner, lease_until = excluded.lease_until, change = excluded.change,
		updated = excluded.updated
	WHERE sessions.status = 'idle' AND sessions.run_id <> excluded.run_id`

// thisBegin is the condition that beginSession has just changed the session's row, in this attempt or an earlier one of
// this Begin.
const thisBegin = ` FROM sessions WHERE user_id = ? AND session_id = ? AND change = ?`

func (a *beginning) statements() ([]statement, error) {
	id, user, session := rowID(), string(a.User), string(a.Session)
	message := Message{Run: a.Run, Role: "user", Content: a.Message}
	values, err := messageValues(&message)
	if err != nil {
		return nil, err
	}
	out := []statement{
		{sql: beginSession, args: []any{
			id, user, session, plain(a.Title), plain(a.Mode), a.Run, len(a.History) + 1, a.Owner, a.TTL.Milliseconds(), a.change,
			user, plain(a.IdempotencyKey), a.Run, user, fewerThan(a.MaxRuns, a.Full),
		}},
		{
			sql: `INSERT INTO details (session, settings) SELECT id, ?` + thisBegin +
				` ON CONFLICT (session) DO UPDATE SET settings = excluded.settings, lexicon = NULL, skills = NULL`,
			args: []any{a.Settings, user, session, a.change},
		},
		{
			sql: intoMessages + ` SELECT id, last_index, ?, ?, ?, ?, ?, ?, ?, ?, ?` + thisBegin +
				` ON CONFLICT (session, idx) DO NOTHING`,
			args: append(values, user, session, a.change),
		},
	}
	for i := range a.History {
		m := a.History[i]
		m.Run = ""
		values, err := messageValues(&m)
		if err != nil {
			return nil, err
		}
		// Only a session that was created just now has this id.
		out = append(out, statement{
			sql:  intoMessages + ` SELECT id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM sessions WHERE id = ?`,
			args: append(append([]any{i + 1}, values...), id),
		})
	}
	if a.MaxRuns != 0 {
		out = append(out, runsOf(a.User, &a.running))
	}
	a.before = nil
	if a.IdempotencyKey != "" {
		out = append(out, a.keyed()...)
	}
	return append(out, a.kept.loading(a.Ref)...), nil
}

// keyed stores which run the key has begun, and reads back which run that is.
func (a *beginning) keyed() []statement {
	user, key := string(a.User), plain(a.IdempotencyKey)
	return []statement{{
		// Fails if the key is there: of two Begins with the same key at the same time only one may succeed.
		sql: `INSERT INTO begun (user_id, key, session, session_id, run_id, first_seq)
			SELECT user_id, ?, id, session_id, run_id, last_seq + 1` + thisBegin +
			` AND NOT EXISTS (SELECT 1 FROM begun WHERE begun.user_id = sessions.user_id AND key = ? AND begun.run_id = sessions.run_id)`,
		args: []any{key, user, string(a.Session), a.change, key},
	}, {
		sql:  `SELECT session_id, run_id, first_seq FROM begun WHERE user_id = ? AND key = ?`,
		args: []any{user, key},
		row: func(scan func(...any) error) error {
			var session string
			a.before = &AlreadyBegun{}
			err := scan(&session, &a.before.Run, &a.before.FirstSeq)
			a.before.Ref = Ref{User: a.User, Session: ids.SessionID(session)}
			return err
		},
	}}
}
