package tasks

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// States of tasks, as the orchestrators have them.
const (
	Working   = "working"
	Input     = "input_required"
	Completed = "completed"
	Cancelled = "cancelled"
	// Lost is a task whose pod is gone.
	Lost = "lost"
)

const (
	// keepEvery is how often the orchestrators are told that this pod still has its tasks. They take those for lost of which they
	// have not heard for 15 s.
	keepEvery = 3 * time.Second
	// askLimit bounds one question.
	askLimit = 5 * time.Second
	// insist is how long a change is tried to be stored where no orchestrator is there.
	insist = time.Minute
	// maxTasks bounds the tasks of one pod, so that one request names them all.
	maxTasks = 5_000
)

// Store keeps tasks (the orchestrators).
type Store interface {
	CreateTask(context.Context, *agentv1.CreateTaskRequest, ...grpc.CallOption) (*agentv1.CreateTaskResponse, error)
	GetTask(context.Context, *agentv1.GetTaskRequest, ...grpc.CallOption) (*agentv1.GetTaskResponse, error)
	ChangeTask(context.Context, *agentv1.ChangeTaskRequest, ...grpc.CallOption) (*agentv1.ChangeTaskResponse, error)
	KeepTasks(context.Context, *agentv1.KeepTasksRequest, ...grpc.CallOption) (*agentv1.KeepTasksResponse, error)
}

// Book is a pod's tasks. It is safe for concurrent use.
type Book struct {
	// Static after construction.
	store Store
	log   *slog.Logger
	ends  context.Context // with Close
	end   context.CancelFunc
	work  sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	idle    chan struct{}     // closed once nothing runs, for Finish; nil before
	running map[string]string // what each says of itself, by id
}

// NewBook returns a Book that keeps its tasks until Close.
func NewBook(s Store, log *slog.Logger) *Book {
	b := &Book{store: s, log: obs.OrDiscard(log), running: make(map[string]string)}
	b.ends, b.end = context.WithCancel(context.Background())
	b.work.Go(b.keep)
	return b
}

// Finish returns once no task runs here any more, or with ctx. None is begun from now on.
func (b *Book) Finish(ctx context.Context) {
	if b == nil {
		return
	}
	b.mu.Lock()
	b.closed = true
	if b.idle == nil {
		b.idle = make(chan struct{})
	}
	b.settled()
	b.mu.Unlock()
	select {
	case <-b.idle:
	case <-ctx.Done():
	}
}

// settled tells Finish that nothing runs. It is called with mu held.
func (b *Book) settled() {
	if b.idle != nil && len(b.running) == 0 {
		select {
		case <-b.idle:
		default:
			close(b.idle)
		}
	}
}

// Close ends the tasks that still run, and returns once their ends are stored.
func (b *Book) Close() {
	if b == nil {
		return
	}
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.end()
	b.work.Wait()
}

// Begin stores a task that Run is called for then. An error says that there is no task.
func (b *Book) Begin(ctx context.Context, user ids.UserID, t *agentv1.Task) (*agentv1.Task, error) {
	if !b.enter(t.GetId()) {
		return nil, errs.New(errs.LimitReached, "this pod has as many tasks as it may, or ends")
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	resp, err := b.store.CreateTask(auth.OnBehalf(ctx, user), &agentv1.CreateTaskRequest{Task: t})
	if err != nil {
		b.leave(t.GetId())
		return nil, errs.FromGRPC(err)
	}
	return resp.GetTask(), nil
}

// Run carries a task through that Begin has stored, beside the caller. Its context ends with the pod.
func (b *Book) Run(id string, carry func(context.Context)) {
	go func() {
		defer b.leave(id)
		carry(b.ends)
	}()
}

// enter counts a task that runs here.
func (b *Book) enter(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || len(b.running) >= maxTasks {
		return false
	}
	b.running[id] = ""
	b.work.Add(1)
	return true
}

func (b *Book) leave(id string) {
	b.mu.Lock()
	delete(b.running, id)
	b.settled()
	b.mu.Unlock()
	b.work.Done()
}

// Say notes what a task that runs here says of itself.
func (b *Book) Say(id, message string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, here := b.running[id]; here {
		b.running[id] = message
	}
}

// Get returns a user's task; nil where there is none.
func (b *Book) Get(ctx context.Context, user ids.UserID, id string) (*agentv1.Task, error) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	resp, err := b.store.GetTask(auth.OnBehalf(ctx, user), &agentv1.GetTaskRequest{Id: id})
	if err != nil {
		return nil, errs.FromGRPC(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if said := b.running[id]; said != "" && resp.GetTask().GetStatus() == Working {
		resp.GetTask().Message = said
	}
	return resp.GetTask(), nil
}

// Change stores what has become of a task, and insists where no orchestrator is there. kept is false where there is no room for its
// result.
func (b *Book) Change(ctx context.Context, user ids.UserID, t *agentv1.Task) (kept bool, err error) {
	for over := time.Now().Add(insist); ; {
		asking, cancel := context.WithTimeout(auth.OnBehalf(ctx, user), askLimit)
		resp, err := b.store.ChangeTask(asking, &agentv1.ChangeTaskRequest{Task: t})
		cancel()
		if err == nil {
			return resp.GetKept(), nil
		}
		if err = errs.FromGRPC(err); !again(err) || time.Now().After(over) || !sleep.For(ctx, time.Second) {
			return false, err
		}
	}
}

// again reports whether an error says nothing about the task.
func again(err error) bool {
	e, ok := err.(*errs.Error) //nolint:errorlint // of FromGRPC
	return !ok || e.Reason == errs.AgentUnavailable
}

// keep tells the orchestrators which tasks are here.
func (b *Book) keep() {
	for sleep.For(b.ends, keepEvery) {
		b.mu.Lock()
		list := make([]string, 0, len(b.running))
		for id := range b.running {
			list = append(list, id)
		}
		b.mu.Unlock()
		if len(list) == 0 {
			continue
		}
		ctx, cancel := context.WithTimeout(b.ends, askLimit)
		_, err := b.store.KeepTasks(ctx, &agentv1.KeepTasksRequest{Ids: list})
		cancel()
		if err != nil && b.ends.Err() == nil {
			b.log.Warn("the orchestrators are not told which tasks of MCP clients go on", "error", err)
		}
	}
}
