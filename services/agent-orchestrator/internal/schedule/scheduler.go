package schedule

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Store has the tasks, their firings and what is told of them (package store).
type Store interface {
	CreateScheduledTask(ctx context.Context, t store.ScheduledTask) error
	FindScheduledTask(ctx context.Context, id string) (store.ScheduledTask, error)
	ScheduledTask(ctx context.Context, user ids.UserID, id string) (store.ScheduledTask, error)
	ScheduledTasks(ctx context.Context, user ids.UserID, limit int, cursor string) (list []store.ScheduledTask, total int, next string, err error)
	ChangeScheduledTask(ctx context.Context, user ids.UserID, id string, change func(*store.ScheduledTask) error) (store.ScheduledTask, error)
	DeleteScheduledTask(ctx context.Context, user ids.UserID, id string) error

	ClaimDue(ctx context.Context, now time.Time, hold time.Duration, limit int) ([]store.ScheduledTask, error)
	Fire(ctx context.Context, t store.ScheduledTask, firings []store.ScheduledRun, next time.Time, hold time.Duration, told []store.Notification) (bool, error)
	FireNow(ctx context.Context, r store.ScheduledRun, hold time.Duration) error
	ClaimPending(ctx context.Context, hold time.Duration, limit int) ([]store.ScheduledRun, error)
	MovedRuns(ctx context.Context, waiting time.Time, limit int) ([]store.Moved, error)
	Step(ctx context.Context, r store.ScheduledRun, from []store.FiringStatus, once bool, told []store.Notification) (bool, error)
	Later(ctx context.Context, id string, after time.Duration) error
	OpenRun(ctx context.Context, task string) (*store.ScheduledRun, error)
	ScheduledRuns(ctx context.Context, user ids.UserID, task string, limit int, cursor string) (list []store.ScheduledRun, next string, err error)

	Notifications(ctx context.Context, user ids.UserID, limit int, cursor string) (list []store.Notification, next string, err error)
	ReadNotification(ctx context.Context, user ids.UserID, id string) error
	ClaimDeliveries(ctx context.Context, hold time.Duration, limit int) ([]store.Delivery, error)
	Delivered(ctx context.Context, d store.Delivery) error
	DeliverLater(ctx context.Context, d store.Delivery, wait time.Duration) error

	Session(ctx context.Context, ref store.Ref) (store.Session, error)
	Events(ctx context.Context, ref store.Ref, after int64, limit int) ([]*agentv1.Event, error)
}

// Engine begins and cancels runs (package agent).
type Engine interface {
	Invoke(ctx context.Context, user ids.UserID, req *agentv1.InvokeRequest) (agent.Started, error)
	Cancel(ctx context.Context, ref store.Ref) (bool, error)
}

// Sealer encrypts how the runs of a task are begun, which may have keys of models and tools (package seal).
type Sealer interface {
	Seal(purpose seal.Purpose, user ids.UserID, plain []byte) ([]byte, error)
	Open(purpose seal.Purpose, user ids.UserID, sealed []byte) ([]byte, error)
}

// Channel sends notifications to where their users read them, such as mail.
type Channel interface {
	// Send returns once the notification has arrived. It may be sent again where that is not known.
	Send(ctx context.Context, n store.Notification) error
}

// Options are what a Scheduler works with. What is not said to be optional is required.
type Options struct {
	Store  Store
	Engine Engine
	Sealer Sealer
	// Cancelled tells the other pods of a run whose end was asked for; may be nil.
	Cancelled func(store.Ref)
	// Check refuses how a run is to be begun, as it would be refused of an invoke; may be nil.
	Check func(*agentv1.InvokeRequest) error
	// Push shows a notification to the user's clients that are connected, if there are any; may be nil.
	Push func(store.Notification)
	// Channels are the other ways to tell users, by their names in a task's notify.
	Channels map[string]Channel
	// Now is the clock by which tasks fire; nil is the machine's.
	Now func() time.Time
	// DecideWithin is how long a run may wait for a person.
	DecideWithin time.Duration
	// Logger hears of what cannot be done; nil discards.
	Logger *slog.Logger
}

const (
	// look is the time between two looks for what is due.
	look = time.Second
	// hold is how long a pod has for what it has taken on, before another one takes it.
	hold = 15 * time.Second
	// dueHold is the same for making firings, which is a write each. Who is late there makes none.
	dueHold = 3 * time.Second
	// batch is how much is taken on at a time, and atOnce how many runs are begun at a time.
	batch, atOnce = 64, 16
	// madeUp is how late a firing may be and still have its run.
	madeUp = time.Hour
)

// Scheduler is one pod's part of it, and implements ScheduleService. Its methods may be called from several goroutines.
type Scheduler struct {
	agentv1.UnimplementedScheduleServiceServer
	Options

	stopping context.Context // ends when Stop is called
	stop     context.CancelFunc
	work     sync.WaitGroup // the goroutines of Start
}

// New checks the options and returns a Scheduler that Start sets to work.
func New(o Options) (*Scheduler, error) {
	err := options.Require("schedule", map[string]bool{
		"Store": o.Store == nil, "Engine": o.Engine == nil, "Sealer": o.Sealer == nil, "DecideWithin": o.DecideWithin <= 0,
	})
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Cancelled == nil {
		o.Cancelled = func(store.Ref) {}
	}
	if o.Check == nil {
		o.Check = func(*agentv1.InvokeRequest) error { return nil }
	}
	if o.Push == nil {
		o.Push = func(store.Notification) {}
	}
	o.Logger = obs.OrDiscard(o.Logger)
	s := &Scheduler{Options: o}
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s, nil
}

// Start begins to look for what is due.
func (s *Scheduler) Start(context.Context) error {
	s.work.Go(func() { s.each("tasks", s.fireDue) })
	s.work.Go(func() { s.each("firings that another pod left", s.beginPending) })
	s.work.Go(func() { s.each("runs", s.watch) })
	s.work.Go(func() { s.each("deliveries", s.deliver) })
	return nil
}

// Stop returns when nothing is done any more. What was taken on and not done is for another pod.
func (s *Scheduler) Stop(context.Context) error {
	s.stop()
	s.work.Wait()
	return nil
}

// each does something again and again: at once while there is more to do, else after a while.
func (s *Scheduler) each(what string, do func(context.Context) (more bool, err error)) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		more, err := do(s.stopping)
		if s.stopping.Err() != nil {
			return
		}
		if err != nil {
			s.Logger.Warn("the scheduler could not look at "+what, "error", err)
		}
		if more && err == nil {
			continue
		}
		select {
		case <-tick.C:
		case <-s.stopping.Done():
			return
		}
	}
}
