package calls

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/plan"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/timeline"
)

// Tool is the tool that callers call.
const Tool = "bench_call"

// Options of a load.
type Options struct {
	Plan *plan.Plan
	// Tag tells this load's calls from those of any other.
	Tag      string
	Way      Way
	Ledger   *ledger.Ledger
	Recorder *timeline.Recorder
	Callers  int
	// Rate is how many calls shall begin each second; 0 for as many as are answered.
	Rate float64
	// Timeout of one attempt, Patience with attempts that are not delivered.
	Timeout, Patience time.Duration
}

// Load is a load that goes on.
type Load struct {
	o     Options
	begin time.Time
	next  atomic.Int64
	tries atomic.Int64
	open  atomic.Int64
	quit  chan struct{}
	work  sync.WaitGroup

	patient context.Context // ends where nobody wants to try again
	giveUp  context.CancelFunc
}

// Start begins a load, which goes on until Stop.
func Start(ctx context.Context, o Options) *Load {
	l := &Load{o: o, begin: time.Now(), quit: make(chan struct{})}
	l.patient, l.giveUp = context.WithCancel(ctx)
	for range o.Callers {
		l.work.Go(func() { l.caller(ctx) })
	}
	return l
}

// Open is how many calls are in progress.
func (l *Load) Open() int { return int(l.open.Load()) }

// Stop lets no more calls begin and waits for those in progress. When ctx ends, calls that were not delivered are not tried
// again and stay open.
func (l *Load) Stop(ctx context.Context) {
	close(l.quit)
	stop := context.AfterFunc(ctx, l.giveUp)
	l.work.Wait()
	stop()
	l.giveUp()
}

// caller makes one call after the other.
func (l *Load) caller(ctx context.Context) {
	for {
		n := l.next.Add(1) - 1
		from := time.Now()
		if l.o.Rate > 0 {
			from = load.Due(l.begin, l.o.Rate, n)
		}
		timer := time.NewTimer(time.Until(from))
		select {
		case <-l.quit:
			timer.Stop()
			return
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		select { // a call that is late already must not win over the end
		case <-l.quit:
			return
		default:
			l.call(ctx, n, from)
		}
	}
}

// Arguments are those of the nth call, or of a step of a run: what a node needs to answer it and to check it.
type Arguments struct {
	Tag    string `json:"tag"`
	N      int64  `json:"n"`
	Answer int    `json:"answer"`
	WorkUS int64  `json:"work_us"`
	Data   string `json:"data"`
}

// NewArguments returns those of the nth call.
func NewArguments(p *plan.Plan, tag string, n int64, c plan.Call) Arguments {
	return Arguments{Tag: tag, N: n, Answer: c.Answer, WorkUS: c.Think.Microseconds(), Data: string(p.Data(n, c.Payload))}
}

// Answer is the text that answers the nth call: its number, and data of the size that was asked for.
func Answer(p *plan.Plan, n int64, size int) string {
	return strconv.FormatInt(n, 10) + " " + string(p.Data(^n&(1<<62-1), size))
}

// call makes the nth call, again and again while it is not delivered.
func (l *Load) call(ctx context.Context, n int64, from time.Time) {
	l.open.Add(1)
	defer l.open.Add(-1)
	what := l.o.Plan.Call(n)
	node := l.o.Plan.Node(what.Node)
	arguments, _ := json.Marshal(NewArguments(l.o.Plan, l.o.Tag, n, what)) // strings and numbers are always JSON
	request := Request{Number: n, User: node.User, Node: node.ID, Tool: Tool, Arguments: arguments}
	l.o.Ledger.Send(n, what.Node)
	done := timeline.Call{From: from}
	var text string
	deadline := time.Now().Add(l.o.Patience)
	for ceiling := firstPause; ; ceiling = min(2*ceiling, maxPause) {
		text, done.End = l.attempt(ctx, request)
		if done.Class != ledger.NotDelivered || !again(done.Reason) || time.Now().After(deadline) || !pause(l.patient, ceiling) {
			break
		}
		done.Refusals = append(done.Refusals, done.Reason)
	}
	if ctx.Err() != nil && done.Class != ledger.Answered || l.patient.Err() != nil && done.Class == ledger.NotDelivered {
		return // it was cut short
	}
	done.To = time.Now()
	part := l.o.Recorder.Call(done)
	l.o.Ledger.End(n, done.Class, text == Answer(l.o.Plan, n, what.Answer), part)
}

func (l *Load) attempt(ctx context.Context, r Request) (string, ledger.End) {
	ctx, cancel := context.WithTimeout(ctx, l.o.Timeout)
	defer cancel()
	return l.o.Way.Attempt(ctx, l.tries.Add(1)-1, r)
}

const (
	firstPause = 20 * time.Millisecond
	maxPause   = 500 * time.Millisecond
)

// pause waits between half and the whole of a ceiling; false where ctx ends first.
func pause(ctx context.Context, ceiling time.Duration) bool {
	return sleep.For(ctx, ceiling/2+rand.N(ceiling/2))
}

// again reports whether another attempt may succeed. A request that the API refuses as wrong stays refused.
func again(reason string) bool {
	switch reason {
	case "REQUIRES_SELECTION", "TOOL_NOT_OFFERED", "TOO_LARGE", "BAD_REQUEST", "HTTP_400", "HTTP_401", "HTTP_403", "HTTP_404":
		return false
	}
	return true
}
