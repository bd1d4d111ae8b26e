package drain

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
)

// Connection is one that a drain takes. Values for the same connection are equal.
type Connection interface {
	// Retire keeps new calls away. The channel is closed once none is open.
	Retire() (idle <-chan struct{})
	// Leave tells the client to connect again elsewhere, and ends the connection. It does not wait.
	Leave()
}

// Pod is what a drain empties.
type Pod interface {
	// Connections returns those that are open.
	Connections() []Connection
	// CallsOpen counts calls at the pod's nodes and those that came through the pod.
	CallsOpen() int
}

// Config is what a Job is made of.
type Config struct {
	Pod Pod
	// Begin makes the pod unready; new connections are refused once it returns.
	Begin func()
	// Delay is how long load balancers have to notice that, before the first connection is told to leave.
	Delay time.Duration
	// Pace is that of a drain for which nobody asks for another.
	Pace   Pace
	Logger *slog.Logger
}

// Job drains one pod, once. It is safe for concurrent use.
type Job struct {
	Config // static after construction

	life    context.Context // ends when what is left is cut off
	cut     context.CancelFunc
	work    sync.WaitGroup // run
	done    chan struct{}  // closed when Drained, or when run was cut off
	hurried chan struct{}  // closed when Finish wants it to be over

	mu    sync.Mutex
	open  bool // may be started
	state State
	began time.Time
	since time.Time
	pace  Pace
	left  int       // connections that were not told yet, of those that run has seen
	until time.Time // when the last of them shall be told
	limit time.Time // which until never passes; zero before Finish
}

// New returns a job that nobody can start before Open.
func New(cfg Config) *Job {
	j := &Job{Config: cfg, done: make(chan struct{}), hurried: make(chan struct{}), since: time.Now(), pace: cfg.Pace}
	j.life, j.cut = context.WithCancel(context.Background())
	return j
}

// Open says that the pod serves, so that it can be drained. Finish has to follow.
func (j *Job) Open() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.open = true
}

// Start begins the drain, at a pace of its own, unless it has begun. It reports whether the pod serves or drains, so
// that there is a drain now.
func (j *Job) Start(pace Pace) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.open || j.state != Serving {
		return j.state != Serving
	}
	j.pace = pace
	j.began = time.Now()
	j.enter(Draining)
	j.Begin()
	j.Logger.Info("drain begins", "connections", len(j.Pod.Connections()), "delay", j.Delay, "spread", pace.Spread)
	j.work.Go(j.run)
	return true
}

// Finish begins the drain, unless it has begun, and returns when it is done. Near the end of ctx nothing is spread any
// more, and at the end of it what is left is cut off.
func (j *Job) Finish(ctx context.Context) {
	j.Start(j.Pace)
	j.hurry(ctx)
	select {
	case <-j.done:
	case <-ctx.Done():
	}
	j.cut()
	j.work.Wait()
}

// Status tells how far the drain is. Before Open nothing is there to be counted.
func (j *Job) Status() Status {
	j.mu.Lock()
	open, s := j.open, Status{State: j.state, Since: j.since, Began: j.began}
	j.mu.Unlock()
	if open {
		s.ConnectionsLeft, s.CallsOpen = len(j.Pod.Connections()), j.Pod.CallsOpen()
	}
	return s
}

// Took returns how long the drain took, or takes so far; 0 where none has begun.
func (j *Job) Took() time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch j.state {
	case Serving:
		return 0
	case Drained:
		return j.since.Sub(j.began)
	}
	return time.Since(j.began)
}

// enter is called with mu held.
func (j *Job) enter(s State) { j.state, j.since = s, time.Now() }

// lookAgain is how often a drain that waits for connections to end looks whether they have.
const lookAgain = 20 * time.Millisecond

// run drains until nobody is connected.
func (j *Job) run() {
	defer close(j.done)
	sleep.For(j.life, j.Delay)
	told := map[Connection]struct{}{}
	var leaving sync.WaitGroup
	for last := false; !last; {
		last = j.life.Err() != nil // who is there at the cut is told as well
		open := j.Pod.Connections()
		if len(open) == 0 {
			break
		}
		batch := untold(open, told)
		j.plan(len(batch))
		for _, c := range batch {
			told[c] = struct{}{}
			j.tell(c, &leaving)
			j.pause()
		}
		if len(batch) == 0 {
			sleep.For(j.life, lookAgain)
		}
	}
	leaving.Wait()
	inTime := j.life.Err() == nil
	j.mu.Lock()
	if inTime {
		j.enter(Drained)
	}
	j.mu.Unlock()
	j.Logger.Info("drain ends", "in_time", inTime, "took", j.Took())
}

// untold returns, in random order, the open connections that were not told to leave yet. It forgets those that have left.
func untold(open []Connection, told map[Connection]struct{}) []Connection {
	var batch []Connection
	still := make(map[Connection]struct{}, len(told))
	for _, c := range open {
		if _, ok := told[c]; ok {
			still[c] = struct{}{}
		} else {
			batch = append(batch, c)
		}
	}
	for c := range told {
		if _, ok := still[c]; !ok {
			delete(told, c)
		}
	}
	rand.Shuffle(len(batch), func(a, b int) { batch[a], batch[b] = batch[b], batch[a] })
	return batch
}

// tell lets a connection go once its calls are over, or the job is cut off.
func (j *Job) tell(c Connection, leaving *sync.WaitGroup) {
	idle := c.Retire()
	select {
	case <-idle:
		c.Leave()
		return
	default:
	}
	leaving.Go(func() {
		select {
		case <-idle:
		case <-j.life.Done():
		}
		c.Leave()
	})
}

// plan fixes when n connections shall have been told.
func (j *Job) plan(n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.left = n
	j.until = j.bound(time.Now().Add(j.pace.duration(n)))
}

// bound is called with mu held.
func (j *Job) bound(t time.Time) time.Time {
	if !j.limit.IsZero() && j.limit.Before(t) {
		return j.limit
	}
	return t
}

// hurry keeps a drain, at whatever pace it was begun, to the usual one and to three quarters of the time that ctx has: the
// last calls need some of it, too. It is called once.
func (j *Job) hurry(ctx context.Context) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pace = j.Pace
	if deadline, ok := ctx.Deadline(); ok {
		j.limit = time.Now().Add(time.Until(deadline) * 3 / 4)
	}
	if usual := time.Now().Add(j.pace.duration(j.left)); usual.Before(j.until) {
		j.until = usual
	}
	j.until = j.bound(j.until)
	close(j.hurried)
}

// pause waits before the next connection is told, so that those left are by the time planned.
func (j *Job) pause() {
	hurried := j.hurried
	for {
		j.mu.Lock()
		d := time.Until(j.until) / time.Duration(max(1, j.left))
		j.mu.Unlock()
		timer := time.NewTimer(jitter(d))
		select {
		case <-timer.C:
			j.mu.Lock()
			j.left--
			j.mu.Unlock()
			return
		case <-hurried:
			hurried = nil // the rest of this pause is as long as it is now
			timer.Stop()
		case <-j.life.Done():
			timer.Stop()
			return
		}
	}
}
