package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/fleet"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/report"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/runs"
)

// result is how the load ended.
type result struct {
	loaded  time.Duration   // in which calls could begin
	stopped context.Context // has ended where somebody stopped it
	failed  error           // of a fault's command
	runs    runs.Findings
	slow    fleet.SlowStats
}

// report puts together what every part knows, and judges it.
func (b *bench) report(res result) *report.Report {
	snap := b.recorder.Snapshot(time.Now())
	r := &report.Report{
		Seed: b.o.Plan.Seed, Began: snap.Begin, Took: report.Seconds(res.loaded), Load: b.asked(),
		Calls: report.NewCalls(snap.All.Calls, res.loaded), Ledger: b.calls.Reconcile(),
		Nodes: report.NewNodes(b.fleet.Stats(), snap.Seconds), Timeline: report.NewTimeline(snap.Seconds),
	}
	if res.stopped.Err() != nil {
		r.Stopped = context.Cause(res.stopped).Error()
	}
	steps := b.steps.Reconcile()
	if b.o.Runs > 0 {
		r.Runs = report.NewRuns(&snap.All.Runs)
		r.Runs.Broken, r.Runs.Problems, r.Runs.Remarks = res.runs.Broken, res.runs.Problems, res.runs.Remarks
		r.Steps = &steps
	}
	if b.o.Slow > 0 {
		r.Slow = &report.Slow{Clients: b.o.Slow, Cut: res.slow.Cut, Took: report.NewLatency(&res.slow.Took), Kept: res.slow.Kept}
	}
	for i, p := range snap.Parts {
		f := report.NewFault(p, snap.Begin, b.o.Runs > 0)
		f.Twice, f.StepsTwice = r.Ledger.TwiceByPart[i], steps.TwiceByPart[i]
		if i == 0 {
			f.Trouble = 0
			r.Calm = &f
			continue
		}
		said := b.o.Faults[i-1]
		f.Kind, f.Lossless, f.LosslessRuns, f.Recover = said.Kind, said.Lossless, said.LosslessRuns, report.Seconds(said.Recover)
		r.Faults = append(r.Faults, f)
	}
	r.Problems = judge(r, res)
	r.Passed = len(r.Problems) == 0
	return r
}

func (b *bench) asked() report.Load {
	p := b.o.Plan
	return report.Load{
		Servers: b.o.Servers, GRPC: b.o.GRPC, Both: b.o.Both, Embedded: b.o.Embedded, Users: p.Users, Nodes: p.Nodes, Callers: b.o.Callers, Rate: b.o.Rate,
		Payload: p.Payload.String(), Answer: p.Answer.String(), Think: p.Think.String(), Churn: p.Churn, Slow: b.o.Slow, Runs: b.o.Runs,
	}
}

// judge says all that keeps a bench from passing.
func judge(r *report.Report, res result) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for _, fault := range ledger.Faults() {
		if n := r.Ledger.Faults[fault]; n > 0 {
			say("calls %s: %d", fault, n)
		}
		if r.Steps != nil && r.Steps.Faults[fault] > 0 {
			say("steps of runs %s: %d", fault, r.Steps.Faults[fault])
		}
	}
	for _, f := range r.Faults {
		if f.Recover > 0 && f.Trouble > f.Recover {
			say("%s: calls were answered again after %v, not within %v", f.Name,
				time.Duration(f.Trouble).Round(time.Millisecond), time.Duration(f.Recover))
		}
		if !f.Lossless {
			continue
		}
		if n := f.Calls.Ended - f.Calls.Answered; n > 0 {
			say("%s is said to be lossless, and %d calls were not answered", f.Name, n)
		}
		if f.Runs != nil && f.LosslessRuns {
			if n := f.Runs.Steps[ledger.Unknown.String()] + f.Runs.Steps[ledger.NotDelivered.String()] + f.Runs.Steps[runs.NotReached]; n > 0 {
				say("%s is said to be lossless, and %d tool calls of runs were not answered", f.Name, n)
			}
		}
	}
	if r.Runs != nil && r.Runs.Broken > 0 {
		say("runs: %d broken promises", r.Runs.Broken)
	}
	if r.Slow != nil && r.Slow.Kept > 0 {
		say("%d web clients that do not read were still served at the end", r.Slow.Kept)
	}
	if res.failed != nil {
		say("%v", res.failed)
	}
	if r.Calls.Answered == 0 && r.Load.Callers > 0 {
		say("no call was answered")
	}
	return problems
}
