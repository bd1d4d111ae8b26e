package store

import (
	"context"
	"errors"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// The states of a task.
const (
	TaskWorking   = "working"
	TaskInput     = "input_required"
	TaskCompleted = "completed"
	TaskCancelled = "cancelled"
	TaskLost      = "lost"
)

// CallTask is a call whose client comes back for the answer.
type CallTask struct {
	ID    string // chosen by the caller
	User  ids.UserID
	Owner string
	Node  string
	// Status is one of the states above.
	Status, Message string
	// Sent says that the call may have reached its tool.
	Sent bool
	// Input are the questions that are open, and Result what was answered: JSON, or empty.
	Input, Result             []byte
	Created, Updated, Expires time.Time
}

const (
	// MaxCallTasks is how many tasks a user may have that have not expired.
	MaxCallTasks = 32
	// MaxTaskBytes is how large their results may be together.
	MaxTaskBytes = 32 << 20
	// keptFor is how long a task lives without a word of its gateway.
	keptFor = 15 * time.Second
)

const openTask = ` AND status IN ('` + TaskWorking + `', '` + TaskInput + `')`

// CreateCallTask stores a new task, and forgets those of the user that have expired. Errors: [errs.LimitReached].
func (s *Store) CreateCallTask(ctx context.Context, t CallTask) error {
	now := time.Now().UnixMilli()
	return s.retry(ctx, shortPatience, func(ctx context.Context) error {
		err := s.db.write(ctx, []statement{
			lockUser(t.User),
			{sql: `DELETE FROM call_tasks WHERE user_id = ? AND expires <= ?`, args: []any{string(t.User), now}},
			{
				sql: `INSERT INTO call_tasks (id, user_id, owner, node, status, message, sent, input, result, size, created, updated, kept, expires)
					SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ? WHERE (SELECT count(*) FROM call_tasks WHERE user_id = ?) < ?`,
				args: []any{
					plain(t.ID), string(t.User), plain(t.Owner), plain(t.Node), t.Status, plain(t.Message), number(t.Sent), []byte{}, []byte{},
					millis(t.Created), millis(t.Updated), now, millis(t.Expires), string(t.User), MaxCallTasks,
				},
				must: 1,
			},
		})
		switch {
		case errors.Is(err, errTaken):
			return nil // by an earlier attempt, whose answer was lost: ids are random
		case errors.Is(err, errUnmet):
			return errs.New(errs.LimitReached, "a user may have at most %d tasks", MaxCallTasks)
		}
		return err
	})
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// CallTask returns a task; one whose gateway is gone is lost from now on. found is false where there is none, or it has expired.
func (s *Store) CallTask(ctx context.Context, user ids.UserID, id string) (t CallTask, found bool, err error) {
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		found = false
		now := time.Now()
		read := statement{
			sql: `SELECT owner, node, status, message, sent, input, result, created, updated, expires, kept FROM call_tasks
				WHERE user_id = ? AND id = ? AND expires > ?`,
			args: []any{string(user), plain(id), now.UnixMilli()},
		}
		var kept int64
		read.row = func(scan func(...any) error) error {
			var sent, created, updated, expires int64
			t = CallTask{ID: id, User: user}
			err := scan(&t.Owner, &t.Node, &t.Status, &t.Message, &sent, &t.Input, &t.Result, &created, &updated, &expires, &kept)
			t.Sent, t.Created, t.Updated, t.Expires, found = sent != 0, moment(created), moment(updated), moment(expires), true
			return err
		}
		if err := s.db.read(ctx, []statement{read}); err != nil || !found {
			return err
		}
		if t.Status != TaskWorking && t.Status != TaskInput || now.UnixMilli()-kept < keptFor.Milliseconds() {
			return nil
		}
		err := s.db.write(ctx, []statement{{
			sql:  `UPDATE call_tasks SET status = '` + TaskLost + `', updated = ? WHERE user_id = ? AND id = ? AND kept = ?` + openTask,
			args: []any{now.UnixMilli(), string(user), plain(id), kept},
		}})
		if err != nil {
			return err
		}
		return s.db.read(ctx, []statement{read})
	})
	return t, found, err
}

// ChangeCallTask stores what has become of a task that is open. kept is false where the user has no room for the result. Errors:
// [errs.NotInterrupted] for a task that is over, lost, or not there.
func (s *Store) ChangeCallTask(ctx context.Context, t CallTask) (kept bool, err error) {
	if len(t.Result) > 0 {
		if kept, err = s.roomFor(ctx, t); err != nil || !kept {
			return kept, err
		}
	}
	attempts := 0
	now := time.Now().UnixMilli()
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		attempts++
		err := s.db.write(ctx, []statement{{
			sql: `UPDATE call_tasks SET status = ?, message = ?, sent = ?, input = ?, result = ?, size = ?, updated = ?, kept = ?
				WHERE user_id = ? AND id = ?` + openTask,
			args: []any{
				t.Status, plain(t.Message), number(t.Sent), some(t.Input), some(t.Result), len(t.Result), now, now, string(t.User), plain(t.ID),
			},
			must: 1,
		}})
		switch {
		case errors.Is(err, errUnmet) && attempts > 1:
			return nil // by an earlier attempt, whose answer was lost, or it is over
		case errors.Is(err, errUnmet):
			return errs.New(errs.NotInterrupted, "the task %.64q is over", t.ID)
		}
		return err
	})
	return err == nil, err
}

// some is a value for a column that takes no NULL.
func some(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// roomFor reports whether a user's results leave room for one more. Two that end at once may both count on it.
func (s *Store) roomFor(ctx context.Context, t CallTask) (room bool, err error) {
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		return s.db.read(ctx, []statement{{
			sql: `SELECT coalesce(sum(size), 0) FROM call_tasks WHERE user_id = ? AND expires > ?`, args: []any{string(t.User), time.Now().UnixMilli()},
			row: func(scan func(...any) error) error {
				var used int64
				err := scan(&used)
				room = used+int64(len(t.Result)) <= MaxTaskBytes
				return err
			},
		}})
	})
	return room, err
}

// KeepCallTasks notes that a gateway has these tasks still.
func (s *Store) KeepCallTasks(ctx context.Context, list []string) error {
	if len(list) == 0 {
		return nil
	}
	args := []any{time.Now().UnixMilli()}
	for _, id := range list {
		args = append(args, plain(id))
	}
	return s.retry(ctx, shortPatience, func(ctx context.Context) error {
		return s.db.write(ctx, []statement{{sql: `UPDATE call_tasks SET kept = ? WHERE id IN (` + marks(len(list)) + `)` + openTask, args: args}})
	})
}
