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
	// shortPatience is how long everything but a Commit retries during an outage: a caller waits for the answer.
	shortPatience = 2 * time.Second
	// attemptTime ends an attempt whose connection has gone silent.
	attemptTime = 5 * time.Second

	firstWait = 5 * time.Millisecond
	longWait  = 500 * time.Millisecond
)

// retry runs an attempt until it succeeds, fails for good, or patience is over, and ends each after attemptTime. An attempt
// whose connection broke may have been carried out: so every attempt looks before it writes, or writes what may be written
// twice.
func (s *Store) retry(ctx context.Context, patience time.Duration, attempt func(context.Context) error) error {
	return s.repeat(ctx, patience, func(ctx context.Context) error { return once(ctx, attempt) })
}

// repeat is retry for attempts that end in time by themselves.
func (s *Store) repeat(ctx context.Context, patience time.Duration, attempt func(context.Context) error) error {
	over := time.Now().Add(patience)
	for wait := firstWait; ; wait = min(2*wait, longWait) {
		err := attempt(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !s.passing(err):
			return err
		case time.Now().After(over):
			s.log.LogAttrs(ctx, slog.LevelError, "the database cannot be reached", slog.Any("err", err))
			return &errs.Error{Reason: errs.AgentUnavailable, Message: "the database cannot be reached at the moment; try again", Err: err}
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

// lastChange is the last name that newChange has returned, which is also the greatest.
var lastChange atomic.Int64

// newChange returns the name of a change, by which an attempt recognises what an earlier one did. It consists of the time
// and random bits, and is greater than all before it in this process. Under one lease only its holder makes changes, so of
// two changes the later one has the greater name.
func newChange() int64 {
	for {
		last := lastChange.Load()
		next := max(last+1, time.Now().UnixMilli()<<21|rand.Int64N(1<<21))
		if lastChange.CompareAndSwap(last, next) {
			return next
		}
	}
}

// rowID returns the id of a new session's row: 42 bits of time, so that rows of the same time are close in the file, and 21
// random bits. If two are the same, the second INSERT fails.
func rowID() int64 { return time.Now().UnixMilli()<<21 | rand.Int64N(1<<21) }
