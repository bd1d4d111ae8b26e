package bench

import (
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/calls"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/fleet"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/plan"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/runs"
)

// book is the nodes' end of the ledgers. It outlives their connections.
type book struct {
	plan         *plan.Plan
	tag          string
	calls, steps *ledger.Ledger
	foreign      atomic.Int64 // calls that are not of this bench
}

// Executed notes a call, and answers it with its number and what it asks for.
func (b *book) Executed(node int, c fleet.Call) string {
	var a calls.Arguments
	if err := json.Unmarshal(c.Arguments, &a); err != nil || a.Tag != b.tag {
		b.foreign.Add(1)
		return fmt.Sprintf("this is not a call of the bench %s", b.tag)
	}
	into, what := b.calls, plan.Call{}
	switch c.Tool {
	case runs.Tool:
		into, node = b.steps, b.plan.Owner(node)
		if steps := b.plan.Run(a.N / plan.MaxSteps).Steps; int(a.N%plan.MaxSteps) < len(steps) {
			what = steps[a.N%plan.MaxSteps]
		}
	default:
		what = b.plan.Call(a.N)
	}
	into.Execute(a.N, node, c.ID, a == calls.NewArguments(b.plan, b.tag, a.N, what))
	return calls.Answer(b.plan, a.N, a.Answer)
}
