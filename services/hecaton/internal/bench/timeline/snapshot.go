package timeline

import (
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
)

// Part is what a recorder knows of one part.
type Part struct {
	// Name is the fault's; "" for the time outside of all of them.
	Name     string
	From, To time.Time
	Marks    []Mark
	Calls    Tally
	Runs     Runs
}

// Second is one second of a load.
type Second struct {
	// Begun are calls that were meant to begin in it; Answered, Refused and Unknown count what ended in it; Reconnected are
	// nodes.
	Begun, Answered, Refused, Unknown, Reconnected int
	// P50, P99 and Max are of the calls that were meant to begin in it.
	P50, P99, Max time.Duration
}

// Snapshot is all that a recorder knows.
type Snapshot struct {
	Begin time.Time
	// All is the sum of the parts.
	All     Part
	Parts   []Part
	Seconds []Second
}

// Snapshot returns everything that was recorded. Call it when the load has ended and nothing records any more.
func (r *Recorder) Snapshot(now time.Time) Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Snapshot{Begin: r.begin, All: Part{From: r.begin, To: now, Calls: newTally(), Runs: newRuns()}}
	for _, p := range r.parts {
		to := p.to
		if to.IsZero() {
			to = now
		}
		s.All.Calls.merge(&p.calls)
		s.All.Runs.merge(&p.runs)
		s.Parts = append(s.Parts, Part{p.name, p.from, to, p.marks, p.calls, p.runs})
	}
	for _, sec := range r.seconds {
		s.Seconds = append(s.Seconds, Second{
			sec.begun, sec.ended, sec.refused, sec.unknown, sec.reconnected,
			sec.latency.Quantile(0.5), sec.latency.Quantile(0.99), sec.latency.Max(),
		})
	}
	return s
}

// Now is how a load goes at the moment.
type Now struct {
	Answered, NotDelivered, Unknown, Refused, Runs int
	// PerSecond, P50 and P99 are of the last few seconds.
	PerSecond float64
	P50, P99  time.Duration
	// Fault is the current fault, Mark its latest step; "" outside of faults.
	Fault, Mark string
}

// lately is how many seconds count as the present.
const lately = 3

// Now says how the load goes.
func (r *Recorder) Now(now time.Time) Now {
	r.mu.Lock()
	defer r.mu.Unlock()
	var n Now
	for _, p := range r.parts {
		n.Answered += p.calls.Answered
		n.NotDelivered += p.calls.NotDelivered
		n.Unknown += p.calls.Unknown
		n.Runs += p.runs.Ended
		for _, count := range p.calls.Refusals {
			n.Refused += count
		}
	}
	if last := r.parts[len(r.parts)-1]; len(r.parts) > 1 && last.to.IsZero() {
		n.Fault = last.name
		if len(last.marks) > 0 {
			n.Mark = last.marks[len(last.marks)-1].Name
		}
	}
	var recent load.Histogram
	end := int(now.Sub(r.begin) / time.Second) // the second that is not over does not count
	from := max(end-lately, 0)
	for i := from; i < min(end, len(r.seconds)); i++ {
		n.PerSecond += float64(r.seconds[i].ended) / float64(end-from)
		recent.Merge(&r.seconds[i].latency)
	}
	n.P50, n.P99 = recent.Quantile(0.5), recent.Quantile(0.99)
	return n
}
