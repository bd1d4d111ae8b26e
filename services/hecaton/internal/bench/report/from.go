package report

import (
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/fleet"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/timeline"
)

// NewLatency reads a histogram.
func NewLatency(h *load.Histogram) Latency {
	q := func(q float64) Seconds { return Seconds(h.Quantile(q)) }
	return Latency{h.Count(), Seconds(h.Mean()), q(0.5), q(0.9), q(0.99), q(0.999), Seconds(h.Max())}
}

// NewCalls reads a tally of calls that took so long in all.
func NewCalls(t timeline.Tally, took time.Duration) Calls {
	c := Calls{
		Ended: t.Ended, Answered: t.Answered, NotDelivered: t.NotDelivered, Unknown: t.Unknown, Retried: t.Retried,
		Refusals: t.Refusals, GivenUp: t.GivenUp, Unknowns: t.Unknowns, Latency: map[string]Latency{},
	}
	if took > 0 {
		c.PerSecond = float64(t.Answered) / took.Seconds()
	}
	var all load.Histogram
	for _, class := range classes {
		if h := t.Latency[class]; h.Count() > 0 {
			c.Latency[class.String()] = NewLatency(h)
			all.Merge(h)
		}
	}
	c.Latency["all"] = NewLatency(&all)
	return c
}

// NewRuns reads a tally of runs.
func NewRuns(t *timeline.Runs) *Runs {
	return &Runs{
		Ended: t.Ended, Finishes: t.Finishes, Steps: t.Steps, Repeated: t.Refused, Resumed: t.Resumed, Took: NewLatency(&t.Took),
	}
}

// NewFault reads one part of a load that began at begin.
func NewFault(p timeline.Part, begin time.Time, withRuns bool) Fault {
	f := Fault{
		Name: p.Name, From: Seconds(p.From.Sub(begin)), To: Seconds(p.To.Sub(begin)), Calls: NewCalls(p.Calls, p.To.Sub(p.From)),
	}
	for _, m := range p.Marks {
		f.Marks = append(f.Marks, Mark{m.Name, Seconds(m.At.Sub(begin))})
	}
	if until := p.Calls.TroubleUntil; until.After(p.From) {
		f.Trouble = Seconds(until.Sub(p.From))
	}
	if withRuns {
		f.Runs = NewRuns(&p.Runs)
	}
	return f
}

// NewNodes reads what happened to the nodes.
func NewNodes(s fleet.Stats, seconds []timeline.Second) Nodes {
	n := Nodes{
		Count: s.Nodes, Up: s.Up, FewestUp: s.FewestUp, Left: s.Left, Lost: s.Lost, SentAway: s.SentAway, Failed: s.Failed,
		Reconnected: s.Reconnected, Connecting: NewLatency(&s.Connecting), Away: NewLatency(&s.Back),
	}
	for _, sec := range seconds {
		n.PeakPerSecond = max(n.PeakPerSecond, sec.Reconnected)
	}
	return n
}

// NewTimeline reads the seconds of a load.
func NewTimeline(seconds []timeline.Second) []Second {
	out := make([]Second, len(seconds))
	for i, s := range seconds {
		out[i] = Second{s.Begun, s.Answered, s.Refused, s.Unknown, s.Reconnected, Seconds(s.P50), Seconds(s.P99), Seconds(s.Max)}
	}
	return out
}
