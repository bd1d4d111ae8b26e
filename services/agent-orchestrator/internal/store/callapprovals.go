package store

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// The states of a call's approval.
const (
	ApprovalWaiting  = "waiting"
	ApprovalApproved = "approved"
	ApprovalRejected = "rejected"
	ApprovalUsed     = "used"
)

// CallApproval is a single call about which its user has to decide, or has.
type CallApproval struct {
	ID   string // chosen by the caller
	User ids.UserID
	// Digest names the call: its tool, arguments and device.
	Digest string
	State  string
	Tool   string
	Node   string // empty for a tool of a service
	// Args are what a person is shown of the arguments; Cut says that there is more.
	Args string
	Cut  bool
	// Why it is asked about, and the Reason of a rejection.
	Why, Reason      string
	Created, Expires time.Time
}

// MaxCallApprovals is how many calls of a user may wait at a time.
const MaxCallApprovals = 50

const callApprovalColumns = `SELECT id, user_id, digest, state, tool, node, args, args_cut, why, reason, created, expires FROM call_approvals WHERE `

func (s *Store) callApprovals(ctx context.Context, condition string, args ...any) (out []CallApproval, err error) {
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		out = nil
		return s.db.read(ctx, []statement{{
			sql: callApprovalColumns + condition + ` AND expires > ? ORDER BY created, id`, args: append(args, time.Now().UnixMilli()),
			row: func(scan func(...any) error) error {
				var a CallApproval
				var user string
				var cut, created, expires int64
				err := scan(&a.ID, &user, &a.Digest, &a.State, &a.Tool, &a.Node, &a.Args, &cut, &a.Why, &a.Reason, &created, &expires)
				a.User, a.Cut, a.Created, a.Expires = ids.UserID(user), cut != 0, moment(created), moment(expires)
				out = append(out, a)
				return err
			},
		}})
	})
	return out, err
}

// WaitingCalls returns a user's calls that wait, the oldest first.
func (s *Store) WaitingCalls(ctx context.Context, user ids.UserID) ([]CallApproval, error) {
	return s.callApprovals(ctx, `user_id = ? AND state = '`+ApprovalWaiting+`'`, string(user))
}

// CallApproval returns the approval of that id. Errors: [errs.ApprovalNotFound], also for one that has expired.
func (s *Store) CallApproval(ctx context.Context, user ids.UserID, id string) (CallApproval, error) {
	found, err := s.callApprovals(ctx, `user_id = ? AND id = ?`, string(user), plain(id))
	if err == nil && len(found) == 0 {
		err = errs.New(errs.ApprovalNotFound, "there is no approval %.64q, or it has expired", id)
	}
	if err != nil {
		return CallApproval{}, err
	}
	return found[0], nil
}

// OpenApprovals returns the approvals of a call that have not been used, the oldest first.
func (s *Store) OpenApprovals(ctx context.Context, user ids.UserID, digest string) ([]CallApproval, error) {
	return s.callApprovals(ctx, `user_id = ? AND digest = ? AND state <> '`+ApprovalUsed+`'`, string(user), digest)
}

// AskApproval stores a call that waits, and forgets those of the user that have expired. Errors: [errs.LimitReached].
func (s *Store) AskApproval(ctx context.Context, a CallApproval) error {
	cut := 0
	if a.Cut {
		cut = 1
	}
	now := time.Now().UnixMilli()
	forget := statement{sql: `DELETE FROM call_approvals WHERE user_id = ? AND expires <= ?`, args: []any{string(a.User), now}}
	insert := statement{
		sql: `INSERT INTO call_approvals (id, user_id, digest, state, mark, tool, node, args, args_cut, why, reason, created, expires)
			SELECT ?, ?, ?, '` + ApprovalWaiting + `', '', ?, ?, ?, ?, ?, '', ?, ?
			WHERE (SELECT count(*) FROM call_approvals WHERE user_id = ? AND state = '` + ApprovalWaiting + `') < ?`,
		args: []any{
			plain(a.ID), string(a.User), a.Digest, plain(a.Tool), plain(a.Node), plain(a.Args), cut, plain(a.Why), millis(a.Created), millis(a.Expires),
			string(a.User), MaxCallApprovals,
		},
		must: 1,
	}
	return s.retry(ctx, shortPatience, func(ctx context.Context) error {
		err := s.db.write(ctx, []statement{lockUser(a.User), forget, insert})
		switch {
		case errors.Is(err, errTaken):
			return nil // by an earlier attempt, whose answer was lost: ids are random
		case errors.Is(err, errUnmet):
			return errs.New(errs.LimitReached, "%d calls wait for the user's approval already, which is as many as may wait", MaxCallApprovals)
		}
		return err
	})
}

// MoveApproval changes the state of an approval that is in the state `from`, and reports whether this call did: of several, one does.
func (s *Store) MoveApproval(ctx context.Context, a CallApproval, from string) (moved bool, err error) {
	mark := rand.Text()
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		moved = false
		err := s.db.write(ctx, []statement{{
			sql: `UPDATE call_approvals SET state = ?, mark = ?, reason = ?, expires = ?
				WHERE user_id = ? AND id = ? AND (state = ? OR mark = ?) AND expires > ?`,
			args: []any{
				a.State, mark, plain(a.Reason), millis(a.Expires), string(a.User), plain(a.ID), from, mark, time.Now().UnixMilli(),
			},
			must: 1,
		}})
		if moved = err == nil; errors.Is(err, errUnmet) {
			return nil
		}
		return err
	})
	return moved, err
}
