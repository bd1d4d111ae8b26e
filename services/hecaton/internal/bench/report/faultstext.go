package report

import (
	"fmt"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/load"
)

// faultsText is the table of faults, and what each did in detail.
func (r *Report) faultsText(b *strings.Builder) {
	b.WriteString("\nFaults: what callers saw\n\n")
	rows := [][]string{{"", "calls", "answered", "after retry", "not delivered", "unknown", "twice", "p99", "worst", "answered again"}}
	if r.Calm != nil {
		rows = append(rows, faultRow("(no fault)", *r.Calm, "-"))
	}
	for _, f := range r.Faults {
		again := "at once"
		if f.Trouble > 0 {
			again = "after " + duration(f.Trouble)
		}
		name := f.Name
		if f.Lossless {
			name += " *"
		}
		rows = append(rows, faultRow(name, f, again))
	}
	_ = load.Table(rows).Write(b, "  ") // a Builder takes everything
	b.WriteString("\n  * said to be lossless. Answered again: from the fault to the end of the last call that was refused at\n" +
		"  first, not answered, or slower than a second. Calls in flight at the fault are its own.\n")
	for _, f := range r.Faults {
		detail(b, f)
	}
	if r.Runs != nil {
		r.faultRuns(b)
	}
}

func faultRow(name string, f Fault, again string) []string {
	all := f.Calls.Latency["all"]
	return []string{name, number(f.Calls.Ended), number(f.Calls.Answered), number(f.Calls.Retried), number(f.Calls.NotDelivered),
		number(f.Calls.Unknown), number(f.Twice), duration(all.P99), duration(all.Max), again}
}

func detail(b *strings.Builder, f Fault) {
	var parts []string
	if len(f.Calls.Refusals) > 0 {
		parts = append(parts, "attempts not delivered: "+counts(f.Calls.Refusals))
	}
	if len(f.Calls.GivenUp) > 0 {
		parts = append(parts, "given up: "+counts(f.Calls.GivenUp))
	}
	if len(f.Calls.Unknowns) > 0 {
		parts = append(parts, "unknown: "+counts(f.Calls.Unknowns))
	}
	if len(parts) > 0 {
		fmt.Fprintf(b, "\n  %s\n    %s\n", f.Name, strings.Join(parts, "\n    "))
	}
}

// faultRuns is the same table for runs.
func (r *Report) faultRuns(b *strings.Builder) {
	b.WriteString("\nFaults: what runs saw\n\n")
	rows := [][]string{{"", "runs", "finished", "streams resumed", "requests repeated", "steps", "unknown", "twice", "worst"}}
	for _, f := range append([]Fault{*r.Calm}, r.Faults...) {
		u := f.Runs
		steps := 0
		for _, n := range u.Steps {
			steps += n
		}
		name := f.Name
		if name == "" {
			name = "(no fault)"
		}
		rows = append(rows, []string{name, number(u.Ended), number(u.Finishes["stop"]), number(u.Resumed), number(u.Repeated), number(steps),
			number(u.Steps["unknown"]), number(f.StepsTwice), duration(u.Took.Max)})
	}
	_ = load.Table(rows).Write(b, "  ") // a Builder takes everything
}
