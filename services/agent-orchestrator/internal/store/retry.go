package store

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

const (
	// shortPatience is how long all but a Commit outlasts an outage: somebody waits for the answer.
	shortPatience = 2 * time.Second
	// attemptTime ends an attempt whose connection has gone silent.
	attemptTime = 5 * time.Second

	firstWait = 5 * time.Millisecond
	longWait  = 500 * time.Millisecond
)

// retry runs an attempt until it is done, fails for good, or patience is over. An attempt that broke may have been done
// nevertheless: every attempt looks before it writes, or writes what may be written twice.
func (s *Store) retry(ctx context.Context, patience time.Duration, attempt func(context.Context) error) error {
	over := time.Now().Add(patience)
	for wait := firstWait; ; wait = min(2*wait, longWait) {
		err := once(ctx, attempt)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !s.passing(err):
			return err
		case time.Now().After(over):
			s.log.LogAttrs(ctx, slog.LevelError, "the database cannot be reached", slog.Any("err", err))
			return &errs.Error{Reason: errs.AgentUnavailable, Message: "what is kept cannot be reached right now", Err: err}
		}
		if wait > 8*firstWait {
			s.log.LogAttrs(ctx, slog.LevelWarn, "trying the database again", slog.Any("err", err))
		}
		select {
		case <-time.After(wait/2 + rand.N(wait)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// passing reports whether another attempt may succeed.
func (s *Store) passing(err error) bool {
	return errors.Is(err, errUnmet) || errors.Is(err, context.DeadlineExceeded) || s.db.transient(err)
}

func once(ctx context.Context, attempt func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	return attempt(ctx)
}

// lastChange is the greatest name that newChange has returned.
var lastChange atomic.Int64

// newChange returns the name of a change, by which an attempt knows what an earlier one did: time and chance, and greater
// than all before it in this process. Under one lease only its holder makes changes, so of two the later has the greater name.
func newChange() int64 {
	for {
		last := lastChange.Load()
		next := max(last+1, time.Now().UnixMilli()<<21|rand.Int64N(1<<21))
		if lastChange.CompareAndSwap(last, next) {
			return next
		}
	}
}

// rowID returns the id of a new session's row: 42 bits of time, for neighbours in time to be neighbours in the file, and 21
// of chance. Two of the same are an error of the second's INSERT.
func rowID() int64 { return time.Now().UnixMilli()<<21 | rand.Int64N(1<<21) }
