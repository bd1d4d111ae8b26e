package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// ScheduleState is what became of a scheduled task.
type ScheduleState string

// The states.
const (
	ScheduleActive    ScheduleState = "active"
	SchedulePaused    ScheduleState = "paused"
	ScheduleCompleted ScheduleState = "completed"
	ScheduleFailed    ScheduleState = "failed"
	ScheduleCancelled ScheduleState = "cancelled"
)

// ScheduledTask is something that an agent does at set times.
type ScheduledTask struct {
	ID      string // chosen by the caller
	User    ids.UserID
	Title   string
	Prompt  string
	Rule    []byte // when it fires, as JSON that the store does not read
	Node    string
	RunMode string
	Notify  []string
	Run     []byte // how its runs are begun: sealed by the caller, opaque here
	State   ScheduleState
	Next    time.Time // when it fires next; zero where it does not
	Created time.Time
	Updated time.Time

	// Last is its last firing, nil for none; Running says that one has not ended. Both are only read.
	Last    *ScheduledRun
	Running bool

	revision int64
}

// MaxScheduledTasks is how many tasks a user may have that are not over.
const MaxScheduledTasks = 1000

const taskColumns = `SELECT t.id, t.user_id, t.title, t.prompt, t.rule, t.node_id, t.run_mode, t.notify, t.run, t.state, t.next_run, t.revision,
	t.created, t.updated, (SELECT count(*) FROM scheduled_runs o WHERE o.task = t.id AND o.status IN (` + openRuns + `))
	FROM scheduled_tasks t`

func scanTask(scan func(...any) error) (ScheduledTask, error) {
	var t ScheduledTask
	var user, rule, notify, state string
	var next, created, updated, open int64
	if err := scan(&t.ID, &user, &t.Title, &t.Prompt, &rule, &t.Node, &t.RunMode, &notify, &t.Run, &state, &next, &t.revision, &created, &updated, &open); err != nil {
		return t, err
	}
	t.User, t.Rule, t.State, t.Running = ids.UserID(user), []byte(rule), ScheduleState(state), open > 0
	t.Next, t.Created, t.Updated = moment(next), moment(created), moment(updated)
	return t, json.Unmarshal([]byte(notify), &t.Notify)
}

// changing are a task's columns that change, in the order of [ScheduledTask.values].
const changing = `title = ?, prompt = ?, rule = ?, node_id = ?, run_mode = ?, notify = ?, run = ?, state = ?, next_run = ?, updated = ?`

func (t *ScheduledTask) values() ([]any, error) {
	notify, err := json.Marshal(t.Notify)
	return []any{
		plain(t.Title), plain(t.Prompt), string(t.Rule), plain(t.Node), plain(t.RunMode), string(notify), t.Run, string(t.State), millis(t.Next), millis(t.Updated),
	}, err
}

// CreateScheduledTask stores a new one. Errors: [errs.NameTaken] for an id that is there, [errs.LimitReached].
func (s *Store) CreateScheduledTask(ctx context.Context, t ScheduledTask) error {
	values, err := t.values()
	if err != nil {
		return err
	}
	insert := statement{
		sql: `INSERT INTO scheduled_tasks (id, user_id, title, prompt, rule, node_id, run_mode, notify, run, state, next_run, updated, revision, claimed, created)
			SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0, ?
			WHERE (SELECT count(*) FROM scheduled_tasks WHERE user_id = ? AND state IN ('active', 'paused')) < ?`,
		args: append(append([]any{plain(t.ID), string(t.User)}, values...), millis(t.Created), string(t.User), MaxScheduledTasks),
		must: 1,
	}
	attempts := 0
	return s.retry(ctx, shortPatience, func(ctx context.Context) error {
		attempts++
		err := s.db.write(ctx, []statement{lockUser(t.User), insert})
		switch {
		case errors.Is(err, errTaken) && attempts > 1:
			return nil // by an earlier attempt, whose answer was lost
		case errors.Is(err, errTaken):
			return errs.New(errs.NameTaken, "there is a task %q", t.ID)
		case errors.Is(err, errUnmet):
			return errs.New(errs.LimitReached, "a user may have at most %d tasks that are not over", MaxScheduledTasks)
		}
		return err
	})
}

// FindScheduledTask returns a task by its id, whoever's it is: for programs that keep the tasks of several users. Errors:
// [errs.TaskNotFound].
func (s *Store) FindScheduledTask(ctx context.Context, id string) (ScheduledTask, error) {
	return s.scheduledTask(ctx, id, ` WHERE t.id = ?`, plain(id))
}

// ScheduledTask returns one of a user's tasks. Errors: [errs.TaskNotFound].
func (s *Store) ScheduledTask(ctx context.Context, user ids.UserID, id string) (ScheduledTask, error) {
	return s.scheduledTask(ctx, id, ` WHERE t.id = ? AND t.user_id = ?`, plain(id), string(user))
}

func (s *Store) scheduledTask(ctx context.Context, id, condition string, args ...any) (t ScheduledTask, err error) {
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		list, err := s.readTasks(ctx, condition, args...)
		if err == nil && len(list) == 0 {
			err = errs.New(errs.TaskNotFound, "there is no task %q", id)
		}
		if err == nil {
			t = list[0]
		}
		return err
	})
	return t, err
}

// readTasks reads tasks with their last firings.
func (s *Store) readTasks(ctx context.Context, condition string, args ...any) ([]ScheduledTask, error) {
	var list []ScheduledTask
	at := map[string]int{}
	err := s.db.read(ctx, []statement{{sql: taskColumns + condition, args: args, row: func(scan func(...any) error) error {
		t, err := scanTask(scan)
		at[t.ID] = len(list)
		list = append(list, t)
		return err
	}}})
	if err != nil || len(list) == 0 {
		return list, err
	}
	named := make([]any, len(list))
	for i := range list {
		named[i] = list[i].ID
	}
	return list, s.db.read(ctx, []statement{{
		sql: runColumns + ` WHERE r.task IN (` + marks(len(list)) + `) AND NOT EXISTS (SELECT 1 FROM scheduled_runs o
			WHERE o.task = r.task AND o.fired_for > r.fired_for)`,
		args: named,
		row: func(scan func(...any) error) error {
			r, err := scanRun(scan)
			list[at[r.Task]].Last = &r
			return err
		},
	}})
}

// ScheduledTasks lists a user's tasks, the newest first: at most limit (0 means 50; at most 200) after the cursor of the page before. total is
// how many there are on all pages; next is "" on the last.
func (s *Store) ScheduledTasks(ctx context.Context, user ids.UserID, limit int, cursor string) (list []ScheduledTask, total int, next string, err error) {
	condition, args, limit, err := page(` WHERE t.user_id = ?`, []any{string(user)}, "t.created", "t.id", limit, cursor)
	if err != nil {
		return nil, 0, "", err
	}
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		var n int64
		err := s.db.read(ctx, []statement{{
			sql: `SELECT count(*) FROM scheduled_tasks WHERE user_id = ?`, args: []any{string(user)},
			row: func(scan func(...any) error) error { return scan(&n) },
		}})
		if err != nil {
			return err
		}
		total = int(n)
		list, err = s.readTasks(ctx, condition, args...)
		return err
	})
	if len(list) > limit {
		list = list[:limit]
		next = after{millis(list[limit-1].Created), list[limit-1].ID}.cursor()
	}
	return list, total, next, err
}

// ChangeScheduledTask changes a task: change may be called again if another change was made meanwhile, and its error is returned.
// Errors: [errs.TaskNotFound].
func (s *Store) ChangeScheduledTask(ctx context.Context, user ids.UserID, id string, change func(*ScheduledTask) error) (t ScheduledTask, err error) {
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		var err error
		if t, err = s.ScheduledTask(ctx, user, id); err != nil {
			return err
		}
		if err = change(&t); err != nil {
			return err
		}
		t.Updated = time.UnixMilli(time.Now().UnixMilli())
		values, err := t.values()
		if err != nil {
			return err
		}
		return s.db.write(ctx, []statement{{
			sql:  `UPDATE scheduled_tasks SET ` + changing + `, revision = revision + 1, claimed = 0 WHERE id = ? AND revision = ?`,
			args: append(values, t.ID, t.revision), must: 1,
		}})
	})
	return t, err
}

// DeleteScheduledTask removes a task with the record of its firings. Errors: [errs.TaskNotFound].
func (s *Store) DeleteScheduledTask(ctx context.Context, user ids.UserID, id string) error {
	attempts := 0
	return s.retry(ctx, shortPatience, func(ctx context.Context) error {
		attempts++
		err := s.db.write(ctx, []statement{
			{sql: `DELETE FROM scheduled_tasks WHERE id = ? AND user_id = ?`, args: []any{plain(id), string(user)}, must: 1},
			{sql: `DELETE FROM scheduled_runs WHERE task = ?`, args: []any{plain(id)}},
		})
		switch {
		case errors.Is(err, errUnmet) && attempts > 1:
			return nil // by an earlier attempt, whose answer was lost
		case errors.Is(err, errUnmet):
			return errs.New(errs.TaskNotFound, "there is no task %q", id)
		}
		return err
	})
}
