package timeline

import (
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
)

// Call is a call that has ended.
type Call struct {
	// From is when it was meant to begin, so that waiting for a caller counts; To is when it was over.
	From, To time.Time
	ledger.End
	// Refusals are the reasons for which attempts were not delivered before it ended.
	Refusals []string
}

// slow is what a caller notices: a call that takes longer counts as trouble.
const slow = time.Second

// troubled reports whether something went wrong with the call, also where it was answered in the end.
func (c Call) troubled() bool {
	return c.Class != ledger.Answered || len(c.Refusals) > 0 || c.To.Sub(c.From) > slow
}

// Tally counts calls by how they ended.
type Tally struct {
	Ended, Answered, NotDelivered, Unknown int
	// Retried were answered after attempts that were not delivered.
	Retried int
	// Refusals are attempts that were not delivered, GivenUp the calls whose last attempt was, Unknowns those whose outcome
	// is unknown: each by reason.
	Refusals, GivenUp, Unknowns map[string]int
	// Latency of the calls of a class.
	Latency map[ledger.Class]*load.Histogram
	// TroubleUntil is when the last call ended that was refused at first, was not answered, or took longer than a second;
	// zero where there was none.
	TroubleUntil time.Time
}

func newTally() Tally {
	return Tally{
		Refusals: map[string]int{}, GivenUp: map[string]int{}, Unknowns: map[string]int{},
		Latency: map[ledger.Class]*load.Histogram{ledger.Answered: {}, ledger.NotDelivered: {}, ledger.Unknown: {}},
	}
}

func (t *Tally) add(c Call) {
	t.Ended++
	for _, reason := range c.Refusals {
		t.Refusals[reason]++
	}
	switch c.Class {
	case ledger.Answered:
		t.Answered++
		if len(c.Refusals) > 0 {
			t.Retried++
		}
	case ledger.NotDelivered:
		t.NotDelivered++
		t.GivenUp[c.Reason]++
	default:
		t.Unknown++
		t.Unknowns[c.Reason]++
	}
	if h := t.Latency[c.Class]; h != nil {
		h.Add(c.To.Sub(c.From))
	}
	if c.troubled() && c.To.After(t.TroubleUntil) {
		t.TroubleUntil = c.To
	}
}

func (t *Tally) merge(o *Tally) {
	t.Ended += o.Ended
	t.Answered += o.Answered
	t.NotDelivered += o.NotDelivered
	t.Unknown += o.Unknown
	t.Retried += o.Retried
	for _, pair := range [][2]map[string]int{{t.Refusals, o.Refusals}, {t.GivenUp, o.GivenUp}, {t.Unknowns, o.Unknowns}} {
		for reason, n := range pair[1] {
			pair[0][reason] += n
		}
	}
	for class, h := range o.Latency {
		t.Latency[class].Merge(h)
	}
	if o.TroubleUntil.After(t.TroubleUntil) {
		t.TroubleUntil = o.TroubleUntil
	}
}
