package timeline

import (
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
)

// Recorder is told of everything as it happens. It is safe for concurrent use.
type Recorder struct {
	begin time.Time // static after construction

	mu      sync.Mutex
	parts   []*part
	seconds []*second
}

// part is the time of one fault; the first part is the time outside of all faults.
type part struct {
	name     string
	from, to time.Time // to is zero while it lasts
	marks    []Mark
	calls    Tally
	runs     Runs
}

// Mark is something that happened in a part's time.
type Mark struct {
	Name string
	At   time.Time
}

type second struct {
	begun, ended, refused, unknown, reconnected int
	latency                                     load.Histogram
}

// New returns a recorder of a load that begins now.
func New(now time.Time) *Recorder {
	return &Recorder{begin: now, parts: []*part{{from: now, calls: newTally(), runs: newRuns()}}}
}

// Begin is when the load began.
func (r *Recorder) Begin() time.Time { return r.begin }

// second returns the one in which at is. mu must be held.
func (r *Recorder) second(at time.Time) *second {
	i := max(int(at.Sub(r.begin)/time.Second), 0)
	for len(r.seconds) <= i {
		r.seconds = append(r.seconds, &second{})
	}
	return r.seconds[i]
}

// partOf returns the part to which something belongs that lasted from begin to end. Call it with mu held.
func (r *Recorder) partOf(begin, end time.Time) int {
	first := 0
	for i, p := range r.parts[1:] {
		if !p.from.Before(end) || !p.to.IsZero() && !p.to.After(begin) {
			continue
		}
		if p.to.IsZero() || p.to.Sub(begin) > last {
			return i + 1
		}
		if first == 0 {
			first = i + 1
		}
	}
	return first
}

// last is the final stretch of a part. What begins in it and lasts into the next part belongs to the next part, since this
// one has settled by then.
const last = 500 * time.Millisecond

// Call notes a call that has ended, and returns the part to which it belongs.
func (r *Recorder) Call(c Call) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.partOf(c.From, c.To)
	r.parts[i].calls.add(c)
	begun := r.second(c.From)
	begun.begun++
	begun.latency.Add(c.To.Sub(c.From))
	ended := r.second(c.To)
	ended.refused += len(c.Refusals)
	switch c.Class {
	case ledger.Answered:
		ended.ended++
	case ledger.NotDelivered:
		ended.refused++
	default:
		ended.unknown++
	}
	return i
}

// Reconnect notes that a node is connected again.
func (r *Recorder) Reconnect(at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.second(at).reconnected++
}

// Enter begins the part of a fault.
func (r *Recorder) Enter(name string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parts = append(r.parts, &part{name: name, from: now, calls: newTally(), runs: newRuns()})
}

// Mark notes that something happened in the part that lasts.
func (r *Recorder) Mark(name string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.parts[len(r.parts)-1]
	p.marks = append(p.marks, Mark{name, now})
}

// Leave ends the part that lasts.
func (r *Recorder) Leave(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parts[len(r.parts)-1].to = now
}
