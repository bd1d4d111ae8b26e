package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// FiringStatus is how far a firing of a task has come.
type FiringStatus string

// The statuses. Those after FiringInterrupted are final.
const (
	FiringPending     FiringStatus = "pending"     // its run has not begun
	FiringRunning     FiringStatus = "running"     // its run goes on
	FiringInterrupted FiringStatus = "interrupted" // its run waits for a person
	FiringCompleted   FiringStatus = "completed"
	FiringFailed      FiringStatus = "failed"
	FiringCancelled   FiringStatus = "cancelled"
	FiringMissed      FiringStatus = "missed" // it had no run
)

// openRuns are the statuses that are not final, in SQL.
const openRuns = `'pending', 'running', 'interrupted'`

// ScheduledRun is one firing of a scheduled task.
type ScheduledRun struct {
	ID       string // chosen by the caller
	Task     string
	User     ids.UserID
	FiredFor time.Time // by the schedule's clock
	Session  ids.SessionID
	Run      string // "" where none has begun
	Status   FiringStatus
	Error    string
	Started  time.Time // zero before
	Finished time.Time // zero before
}

const runColumns = `SELECT r.id, r.task, r.user_id, r.fired_for, r.session_id, r.run_id, r.status, r.error, r.started, r.finished FROM scheduled_runs r`

func scanRun(scan func(...any) error, more ...any) (ScheduledRun, error) {
	var r ScheduledRun
	var user, session, status string
	var fired, started, finished int64
	err := scan(append([]any{&r.ID, &r.Task, &user, &fired, &session, &r.Run, &status, &r.Error, &started, &finished}, more...)...)
	r.User, r.Session, r.Status = ids.UserID(user), ids.SessionID(session), FiringStatus(status)
	r.FiredFor, r.Started, r.Finished = moment(fired), moment(started), moment(finished)
	return r, err
}

// ScheduledRuns lists the firings of a task, the last first, in pages as [Store.ScheduledTasks].
func (s *Store) ScheduledRuns(ctx context.Context, user ids.UserID, task string, limit int, cursor string) (list []ScheduledRun, next string, err error) {
	condition, args, limit, err := page(` WHERE r.task = ? AND r.user_id = ?`, []any{plain(task), string(user)}, "r.fired_for", "r.id", limit, cursor)
	if err != nil {
		return nil, "", err
	}
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		list = nil
		return s.db.read(ctx, []statement{{sql: runColumns + condition, args: args, row: collect(&list)}})
	})
	if len(list) > limit {
		list = list[:limit]
		next = after{millis(list[limit-1].FiredFor), list[limit-1].ID}.cursor()
	}
	return list, next, err
}

func collect(list *[]ScheduledRun) func(func(...any) error) error {
	return func(scan func(...any) error) error {
		r, err := scanRun(scan)
		*list = append(*list, r)
		return err
	}
}

// ClaimDue returns at most limit tasks that are due by the schedule's clock, the longest due first. For hold no other pod gets them, unless
// they are changed.
func (s *Store) ClaimDue(ctx context.Context, now time.Time, hold time.Duration, limit int) (list []ScheduledTask, err error) {
	const due = ` FROM scheduled_tasks WHERE next_run > 0 AND next_run <= ? AND claimed < (SELECT {now})`
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		list = nil
		var n int64
		// Most often there is none. A read finds that out, which holds up no writer.
		err := s.db.read(ctx, []statement{{sql: `SELECT count(*)` + due, args: []any{millis(now)}, row: func(scan func(...any) error) error { return scan(&n) }}})
		if err != nil || n == 0 {
			return err
		}
		var claimed []any
		err = s.db.write(ctx, []statement{{
			sql: `WITH due AS MATERIALIZED (SELECT id AS due_id` + due + ` ORDER BY next_run LIMIT ? {skip locked})
				UPDATE scheduled_tasks SET claimed = {now} + ? FROM due WHERE id = due_id RETURNING id`,
			args: []any{millis(now), limit, hold.Milliseconds()},
			row: func(scan func(...any) error) error {
				var id string
				err := scan(&id)
				claimed = append(claimed, id)
				return err
			},
		}})
		if err != nil || len(claimed) == 0 {
			return err
		}
		list, err = s.readTasks(ctx, ` WHERE t.id IN (`+marks(len(claimed))+`) ORDER BY t.next_run`, claimed...)
		return err
	})
	return list, err
}

// Fire stores firings of a task, its state and when it fires next, and reports whether it did: a task that was changed meanwhile is left as it is. Those
// firings that are pending are this pod's to begin for hold.
func (s *Store) Fire(ctx context.Context, t ScheduledTask, firings []ScheduledRun, next time.Time, hold time.Duration, told []Notification) (bool, error) {
	statements := []statement{{
		sql:  `UPDATE scheduled_tasks SET next_run = ?, state = ?, claimed = 0, revision = revision + 1 WHERE id = ? AND revision = ?`,
		args: []any{millis(next), string(t.State), t.ID, t.revision}, must: 1,
	}}
	rows := make([][]any, len(firings))
	for i := range firings {
		r := &firings[i]
		rows[i] = []any{
			r.ID, r.Task, string(r.User), millis(r.FiredFor), string(r.Session), r.Run, string(r.Status), plain(r.Error), millis(r.Started), millis(r.Finished),
			time.Now().Add(hold).UnixMilli(),
		}
	}
	statements = append(statements, inserts(
		`INSERT INTO scheduled_runs (id, task, user_id, fired_for, session_id, run_id, status, error, started, finished, claimed)`,
		`ON CONFLICT (task, fired_for) DO NOTHING`, rows)...)
	for _, n := range told {
		statements = append(statements, tell(n)...)
	}
	err := s.retry(ctx, shortPatience, func(ctx context.Context) error {
		err := s.db.write(ctx, statements)
		if errors.Is(err, errUnmet) {
			return errs.New(errs.TaskState, "the task was changed")
		}
		return err
	})
	if errors.Is(err, errs.TaskState) {
		return false, nil
	}
	return err == nil, err
}

// FireNow stores one firing beside a task's own times. Errors: [errs.TaskState] while another goes on.
func (s *Store) FireNow(ctx context.Context, r ScheduledRun, hold time.Duration) error {
	attempts := 0
	return s.retry(ctx, shortPatience, func(ctx context.Context) error {
		attempts++
		err := s.db.write(ctx, []statement{lockUser(r.User), {
			sql: `INSERT INTO scheduled_runs (id, task, user_id, fired_for, session_id, run_id, status, error, started, finished, claimed)
				SELECT ?, t.id, t.user_id, ?, ?, '', ?, '', 0, 0, {now} + ? FROM scheduled_tasks t WHERE t.id = ? AND t.user_id = ?
				AND NOT EXISTS (SELECT 1 FROM scheduled_runs o WHERE o.task = t.id AND o.status IN (` + openRuns + `))`,
			args: []any{r.ID, millis(r.FiredFor), string(r.Session), string(r.Status), hold.Milliseconds(), r.Task, string(r.User)}, must: 1,
		}})
		switch {
		case errors.Is(err, errTaken) && attempts > 1:
			return nil
		case errors.Is(err, errUnmet), errors.Is(err, errTaken):
			return errs.New(errs.TaskState, "the task's run goes on; cancel it, or wait until it ends")
		}
		return err
	})
}

// ClaimPending returns at most limit firings whose pod has not begun them in time. For hold no other pod gets them.
func (s *Store) ClaimPending(ctx context.Context, hold time.Duration, limit int) (list []ScheduledRun, err error) {
	const left = ` FROM scheduled_runs WHERE status = 'pending' AND claimed < (SELECT {now})`
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		list = nil
		var n int64
		err := s.db.read(ctx, []statement{{sql: `SELECT count(*)` + left, row: func(scan func(...any) error) error { return scan(&n) }}})
		if err != nil || n == 0 {
			return err
		}
		return s.db.write(ctx, []statement{{
			sql: `WITH due AS MATERIALIZED (SELECT id AS due_id` + left + ` ORDER BY fired_for LIMIT ? {skip locked})
				UPDATE scheduled_runs SET claimed = {now} + ? FROM due WHERE id = due_id
				RETURNING id, task, user_id, fired_for, session_id, run_id, status, error, started, finished`,
			args: []any{limit, hold.Milliseconds()},
			row:  collect(&list),
		}})
	})
	return list, err
}

// Moved is a firing whose run is not any more where the firing says.
type Moved struct {
	ScheduledRun
	// Session is how the conversation stands; Gone says that there is none any more, Passed that it has gone on to another run.
	Session Status
	Gone    bool
	Passed  bool
	// FinishReason is the run's, where Session is Idle.
	FinishReason string
}

// MovedRuns returns at most limit firings whose runs have ended, wait, or go on again, and those that have waited since before waiting.
func (s *Store) MovedRuns(ctx context.Context, waiting time.Time, limit int) (list []Moved, err error) {
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		list = nil
		return s.db.read(ctx, []statement{{
			sql: `SELECT r.id, r.task, r.user_id, r.fired_for, r.session_id, r.run_id, r.status, r.error, r.started, r.finished,
					coalesce(s.status, ''), coalesce(s.run_id, ''), coalesce(s.finish_reason, '')
				FROM scheduled_runs r LEFT JOIN sessions s ON s.user_id = r.user_id AND s.session_id = r.session_id
				WHERE r.status IN ('running', 'interrupted') AND (s.id IS NULL OR s.run_id <> r.run_id OR s.status = 'idle'
					OR s.status <> r.status OR (s.status = 'interrupted' AND s.updated < ?))
				ORDER BY r.fired_for LIMIT ?`,
			args: []any{millis(waiting), limit},
			row: func(scan func(...any) error) error {
				var m Moved
				var status, run string
				r, err := scanRun(scan, &status, &run, &m.FinishReason)
				m.ScheduledRun, m.Session = r, Status(status)
				m.Gone, m.Passed = status == "", status != "" && run != r.Run
				list = append(list, m)
				return err
			},
		}})
	})
	return list, err
}

// Step takes a firing from one of the statuses given to that of r, and reports whether it did: another pod may have done so before. What is
// told is stored with it. Once says that the task fires only once, and so is over with a final status.
func (s *Store) Step(ctx context.Context, r ScheduledRun, from []FiringStatus, once bool, told []Notification) (bool, error) {
	args := []any{string(r.Status), r.Run, plain(r.Error), millis(r.Started), millis(r.Finished), r.ID}
	for _, status := range from {
		args = append(args, string(status))
	}
	statements := []statement{{
		sql: `UPDATE scheduled_runs SET status = ?, run_id = ?, error = ?, started = ?, finished = ?, claimed = 0
			WHERE id = ? AND status IN (` + marks(len(from)) + `)`,
		args: args, must: 1,
	}}
	if once && final(r.Status) {
		state := ScheduleFailed
		if r.Status == FiringCompleted {
			state = ScheduleCompleted
		}
		statements = append(statements, statement{
			sql:  `UPDATE scheduled_tasks SET state = ?, revision = revision + 1 WHERE id = ? AND state = 'active' AND next_run = 0`,
			args: []any{string(state), r.Task},
		})
	}
	for _, n := range told {
		statements = append(statements, tell(n)...)
	}
	done := false
	err := s.retry(ctx, shortPatience, func(ctx context.Context) error {
		err := s.db.write(ctx, statements)
		done = err == nil
		if errors.Is(err, errUnmet) || errors.Is(err, errTaken) {
			return nil // by another pod, or by an earlier attempt
		}
		return err
	})
	return done, err
}

// Later lets a firing that is pending be begun at another time, by any pod.
func (s *Store) Later(ctx context.Context, id string, after time.Duration) error {
	return s.retry(ctx, shortPatience, func(ctx context.Context) error {
		return s.db.write(ctx, []statement{{
			sql: `UPDATE scheduled_runs SET claimed = {now} + ? WHERE id = ? AND status = 'pending'`, args: []any{after.Milliseconds(), id},
		}})
	})
}

// OpenRun returns a task's firing that has not ended, nil for none.
func (s *Store) OpenRun(ctx context.Context, task string) (*ScheduledRun, error) {
	var list []ScheduledRun
	err := s.retry(ctx, shortPatience, func(ctx context.Context) error {
		list = nil
		return s.db.read(ctx, []statement{{
			sql: runColumns + ` WHERE r.task = ? AND r.status IN (` + openRuns + `) ORDER BY r.fired_for DESC LIMIT 1`, args: []any{plain(task)}, row: collect(&list),
		}})
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

func final(status FiringStatus) bool {
	return !slices.Contains([]FiringStatus{FiringPending, FiringRunning, FiringInterrupted}, status)
}
