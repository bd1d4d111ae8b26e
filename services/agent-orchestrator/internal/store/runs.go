package store

import (
	"context"
	"math"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// countRuns counts the active runs of a user. It does not see runs that another pod begins at the same moment: several pods
// together may exceed the limit by the runs that they begin at once.
const countRuns = `SELECT count(*) FROM sessions WHERE user_id = ? AND status = 'running'`

// fewerThan returns the number that the count of the user's runs has to be below.
func fewerThan(most int, full bool) int {
	switch {
	case full:
		return 0
	case most == 0:
		return math.MaxInt32
	}
	return most
}

// runsOf returns the statement that counts a user's runs into running.
func runsOf(user ids.UserID, running *int) statement {
	return statement{sql: countRuns, args: []any{string(user)}, row: func(scan func(...any) error) error {
		var n int64
		err := scan(&n)
		*running = int(n)
		return err
	}}
}

// mayRun refuses a run that would exceed the user's limit.
func (s *Store) mayRun(ctx context.Context, d Decide) error {
	switch {
	case d.Full:
		return runsLimited(d.MaxRuns)
	case d.MaxRuns == 0:
		return nil
	}
	var running int
	if err := s.db.read(ctx, []statement{runsOf(d.User, &running)}); err != nil {
		return err
	}
	if running >= d.MaxRuns {
		return runsLimited(d.MaxRuns)
	}
	return nil
}

// retryRuns is when to ask again: nobody knows when a run will end.
const retryRuns = 5 * time.Second

func runsLimited(most int) error {
	e := errs.New(errs.RunsLimited, "this user has %d active runs, as many as one may have; wait until one ends, or cancel one", most)
	e.Limit = &errs.LimitMet{Name: "runs", Limit: int64(most), RetryAfter: retryRuns}
	return e
}
