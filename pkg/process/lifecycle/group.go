package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// DefaultStopTimeout bounds a stop where [Group.StopTimeout] does not: Kubernetes kills a pod after 30 s.
const DefaultStopTimeout = 25 * time.Second

// Group is the parts of one program or pod. Add them all, then call Run once.
type Group struct {
	// StopTimeout bounds the stop of all parts together; 0 means [DefaultStopTimeout].
	StopTimeout time.Duration
	// Logger hears of each part that starts and stops; nil means discard.
	Logger *slog.Logger

	parts []*part
}

// part is one entry of a Group.
type part struct {
	name  string
	start func(context.Context) error // returns when the part works; nil where run does it all
	run   func(context.Context) error // returns when the part has ended; nil where nothing runs
	stop  func(context.Context) error // may be nil

	// owned by Run
	cancel context.CancelFunc // ends run's context
	ended  chan struct{}      // closed when run has returned; nil where run is
}

// Add appends a part whose start returns as soon as it works. The context of start ends when the group is told to stop:
// it bounds the starting, it is not the life of the part. A part whose start failed is not stopped. Either function may
// be nil.
func (g *Group) Add(name string, start, stop func(ctx context.Context) error) {
	g.parts = append(g.parts, &part{name: name, start: start, stop: stop})
}

// Go appends a part that runs on a goroutine of its own until it is stopped. When its turn to stop comes, stop is called
// (it may be nil), then run's context is cancelled, then run is waited for. An error from run stops the group, unless the
// part was being stopped and the error is its context's; nil means that it had nothing more to do.
func (g *Group) Go(name string, run, stop func(ctx context.Context) error) {
	g.parts = append(g.parts, &part{name: name, run: run, stop: stop})
}

// Run starts the parts in the order of Add and Go, waits until ctx ends or a part fails, and stops them in reverse. It
// returns nil when nothing failed; the end of ctx is no failure.
func (g *Group) Run(ctx context.Context) error {
	log := g.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	// running ends when the group shall stop, whatever the reason.
	running, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	failures := make(chan error, len(g.parts)) // one place for each part: a failing part never waits

	var errs []error
	started := 0
	for _, p := range g.parts {
		if running.Err() != nil {
			break
		}
		if err := p.begin(running, fail, failures); err != nil {
			// Giving up because the group was told to stop meanwhile is no failure.
			if running.Err() == nil || !errors.Is(err, running.Err()) {
				errs = append(errs, err)
			}
			fail(err)
			break
		}
		started++
		log.DebugContext(ctx, "started", "part", p.name)
	}
	<-running.Done()
	log.InfoContext(ctx, "stopping", "cause", context.Cause(running))

	errs = append(errs, g.stop(context.WithoutCancel(ctx), g.parts[:started], log)...)
	for {
		select {
		case err := <-failures:
			errs = append(errs, err)
		default:
			return errors.Join(errs...)
		}
	}
}

// begin starts p; what it runs reports to failures and then ends the group through fail.
func (p *part) begin(running context.Context, fail context.CancelCauseFunc, failures chan<- error) error {
	if p.start != nil {
		if err := p.start(running); err != nil {
			return fmt.Errorf("start %s: %w", p.name, err)
		}
	}
	if p.run == nil {
		return nil
	}
	// The part lives on while those after it stop, so its context is not cut by running.
	life, cancel := context.WithCancel(context.WithoutCancel(running))
	p.cancel, p.ended = cancel, make(chan struct{})
	go func() {
		defer close(p.ended)
		err := p.run(life)
		if err == nil || (life.Err() != nil && errors.Is(err, life.Err())) {
			return
		}
		err = fmt.Errorf("%s: %w", p.name, err)
		failures <- err
		fail(err)
	}()
	return nil
}

// stop stops parts in reverse under one deadline. A part whose turn comes after the deadline is still told, with a
// context that has ended, so that it can let go by force.
func (g *Group) stop(ctx context.Context, parts []*part, log *slog.Logger) []error {
	timeout := g.StopTimeout
	if timeout == 0 {
		timeout = DefaultStopTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var errs []error
	for i := len(parts) - 1; i >= 0; i-- {
		p := parts[i]
		if err := p.end(ctx); err != nil {
			errs = append(errs, err)
			log.ErrorContext(ctx, "stopped with an error", "part", p.name, "error", err)
			continue
		}
		log.DebugContext(ctx, "stopped", "part", p.name)
	}
	return errs
}

// lastCall is how long a part that runs has to notice, after the deadline, that its context was cancelled.
const lastCall = time.Second

func (p *part) end(ctx context.Context) error {
	var err error
	if p.stop != nil {
		if err = p.stop(ctx); err != nil {
			err = fmt.Errorf("stop %s: %w", p.name, err)
		}
	}
	if p.run == nil {
		return err
	}
	p.cancel()
	select {
	case <-p.ended:
		return err
	case <-ctx.Done():
	}
	last := time.NewTimer(lastCall)
	defer last.Stop()
	select {
	case <-p.ended:
		return err
	case <-last.C:
		return errors.Join(err, fmt.Errorf("stop %s: it still runs after the deadline", p.name))
	}
}
