package timeline

import (
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
)

// Run is an agent's run that has ended.
type Run struct {
	From, To time.Time
	// Finish is its finish_reason; "" where it did not come to an end.
	Finish string
	// Refused is how often its invoke or a decision was refused and repeated, Resumed how often its stream broke and was
	// picked up.
	Refused, Resumed int
	// Steps are its tool calls by outcome: "answered", or what the stream said.
	Steps map[string]int
}

// Runs counts runs.
type Runs struct {
	Ended, Refused, Resumed int
	Finishes, Steps         map[string]int
	Took                    load.Histogram
}

func newRuns() Runs { return Runs{Finishes: map[string]int{}, Steps: map[string]int{}} }

// PartOf returns the part to which something belongs that lasted from begin to end.
func (r *Recorder) PartOf(begin, end time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.partOf(begin, end)
}

// Run notes a run that has ended.
func (r *Recorder) Run(run Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &r.parts[r.partOf(run.From, run.To)].runs
	t.Ended++
	t.Refused += run.Refused
	t.Resumed += run.Resumed
	t.Finishes[run.Finish]++
	for outcome, n := range run.Steps {
		t.Steps[outcome] += n
	}
	t.Took.Add(run.To.Sub(run.From))
}

func (r *Runs) merge(o *Runs) {
	r.Ended += o.Ended
	r.Refused += o.Refused
	r.Resumed += o.Resumed
	for finish, n := range o.Finishes {
		r.Finishes[finish] += n
	}
	for outcome, n := range o.Steps {
		r.Steps[outcome] += n
	}
	r.Took.Merge(&o.Took)
}
