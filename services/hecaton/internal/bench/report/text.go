package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
)

// Text is the report for people.
func (r *Report) Text() string {
	var b strings.Builder
	verdict := "PASSED: the ledger reconciles"
	if !r.Passed {
		verdict = "FAILED"
	}
	fmt.Fprintf(&b, "%s\n", verdict)
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "  ! %s\n", p)
	}
	fmt.Fprintf(&b, "\n  %s\n  %s, seed %d (the same load again: --seed %d)\n", r.Load, r.Began.UTC().Format(time.DateTime+" UTC"), r.Seed, r.Seed)
	if r.Stopped != "" {
		fmt.Fprintf(&b, "  stopped early: %s\n", r.Stopped)
	}
	r.callsText(&b)
	r.ledgerText(&b)
	if r.Runs != nil {
		r.runsText(&b)
	}
	r.nodesText(&b)
	if r.Slow != nil {
		r.slowText(&b)
	}
	if len(r.Faults) > 0 {
		r.faultsText(&b)
	}
	if len(r.Timeline) > 1 {
		b.WriteString("\nLatency over time\n\n" + r.Chart())
	}
	return b.String()
}

// String is the load in a few words.
func (l Load) String() string {
	where := strings.Join(l.Servers, ", ")
	if l.Embedded {
		where = "an embedded cluster of one gateway"
		if n := len(l.Servers); n > 1 {
			where = fmt.Sprintf("an embedded cluster of %d gateways", n)
		}
	}
	loop := "each as fast as it is answered"
	if l.Rate > 0 {
		loop = fmt.Sprintf("%g calls/s in all", l.Rate)
	}
	text := fmt.Sprintf("%s: %s users, %s nodes, %s callers, %s", where, number(l.Users), number(l.Nodes), number(l.Callers), loop)
	if len(l.GRPC) > 0 {
		if l.Both {
			text += ", every other one by REST, the others"
		}
		text += " over gRPC to " + strings.Join(l.GRPC, ", ")
	}
	text += fmt.Sprintf("\n  payload %s, answer %s, work %s", l.Payload, l.Answer, l.Think)
	if l.Churn > 0 {
		text += fmt.Sprintf(", %g nodes/s leave and come back", l.Churn)
	}
	if l.Slow > 0 {
		text += fmt.Sprintf(", %d web clients that do not read", l.Slow)
	}
	if l.Runs > 0 {
		text += fmt.Sprintf(", %d runs at once", l.Runs)
	}
	return text
}

// shown is how many examples of a kind are told.
const shown = 10

var classes = []ledger.Class{ledger.Answered, ledger.NotDelivered, ledger.Unknown}

func (r *Report) callsText(b *strings.Builder) {
	c := r.Calls
	fmt.Fprintf(b, "\nCalls: %s in %s, %.1f answered/s\n\n", number(c.Ended), duration(r.Took), c.PerSecond)
	rows := [][]string{{"", "count", "mean", "p50", "p90", "p99", "p99.9", "max"}}
	for _, class := range classes {
		if l, ok := c.Latency[class.String()]; ok {
			rows = append(rows, latencyRow(strings.ReplaceAll(class.String(), "_", " "), l))
		}
	}
	_ = load.Table(rows).Write(b, "  ") // a Builder takes everything
	if c.Retried+c.NotDelivered > 0 {
		fmt.Fprintf(b, "\n  attempts not delivered: %s\n  %s calls were answered after such attempts, %s were given up", counts(c.Refusals), number(c.Retried), number(c.NotDelivered))
		if c.NotDelivered > 0 {
			fmt.Fprintf(b, " (%s)", counts(c.GivenUp))
		}
		b.WriteString("\n")
	}
	if c.Unknown > 0 {
		fmt.Fprintf(b, "\n  outcome unknown: %s\n", counts(c.Unknowns))
	}
}

func latencyRow(name string, l Latency) []string {
	return []string{name, number(l.Count), duration(l.Mean), duration(l.P50), duration(l.P90), duration(l.P99), duration(l.P999), duration(l.Max)}
}

func (r *Report) ledgerText(b *strings.Builder) {
	fmt.Fprintf(b, "\nLedger: what callers heard, and what nodes were given\n\n")
	head := []string{"", "sent", "answered", "not delivered", "unknown", "(executed)", "open", "executed", "twice"}
	rows := [][]string{head, balanceRow("calls", r.Ledger)}
	if r.Steps != nil {
		rows = append(rows, balanceRow("steps of runs", *r.Steps))
	}
	_ = load.Table(rows).Write(b, "  ") // a Builder takes everything
	for _, balance := range []*ledger.Balance{&r.Ledger, r.Steps} {
		if balance == nil || balance.Reconciles() {
			continue
		}
		b.WriteString("\n")
		for _, fault := range ledger.Faults() {
			if n := balance.Faults[fault]; n > 0 {
				fmt.Fprintf(b, "  ! %s: %s\n", fault, number(n))
			}
		}
		for _, f := range balance.Findings[:min(len(balance.Findings), shown)] {
			fmt.Fprintf(b, "    %s\n", f.Text)
		}
	}
}

func balanceRow(name string, l ledger.Balance) []string {
	return []string{name, number(l.Sent), number(l.Answered), number(l.NotDelivered), number(l.Unknown), "(" + number(l.UnknownExecuted) + ")",
		number(l.Open), number(l.Executed), number(l.Faults[ledger.Twice])}
}

func (r *Report) runsText(b *strings.Builder) {
	u := r.Runs
	fmt.Fprintf(b, "\nRuns: %s ended: %s\n\n", number(u.Ended), counts(u.Finishes))
	fmt.Fprintf(b, "  tool calls: %s\n", counts(u.Steps))
	fmt.Fprintf(b, "  %s streams broke and were picked up, %s requests were sent again\n", number(u.Resumed), number(u.Repeated))
	fmt.Fprintf(b, "  took p50 %s, p99 %s, max %s\n", duration(u.Took.P50), duration(u.Took.P99), duration(u.Took.Max))
	for _, p := range u.Problems[:min(len(u.Problems), shown)] {
		fmt.Fprintf(b, "  ! run %d: %s\n", p.Run, p.Text)
	}
	for _, p := range u.Remarks[:min(len(u.Remarks), shown)] {
		fmt.Fprintf(b, "  run %d: %s\n", p.Run, p.Text)
	}
}

func (r *Report) nodesText(b *strings.Builder) {
	n := r.Nodes
	fmt.Fprintf(b, "\nNodes: %s of %s connected, %s at the fewest\n\n", number(n.Up), number(n.Count), number(n.FewestUp))
	fmt.Fprintf(b, "  the first connections took p50 %s, max %s\n", duration(n.Connecting.P50), duration(n.Connecting.Max))
	if n.Left > 0 {
		fmt.Fprintf(b, "  connections ended by the nodes themselves: %s\n", number(n.Left))
	}
	if len(n.Lost) > 0 {
		fmt.Fprintf(b, "  connections lost: %s\n", counts(n.Lost))
	}
	if len(n.Failed) > 0 {
		fmt.Fprintf(b, "  attempts to connect that failed: %s\n", counts(n.Failed))
	}
	if n.SentAway > 0 {
		fmt.Fprintf(b, "  connections closed with a code at which a program ends, and the node came back: %s\n", number(n.SentAway))
	}
	if n.Reconnected > 0 {
		fmt.Fprintf(b, "  %s reconnects, at most %s in one second; back after p50 %s, p99 %s, max %s\n", number(n.Reconnected),
			number(n.PeakPerSecond), duration(n.Away.P50), duration(n.Away.P99), duration(n.Away.Max))
	}
}

func (r *Report) slowText(b *strings.Builder) {
	s := r.Slow
	fmt.Fprintf(b, "\nWeb clients that do not read: %d, cut %d times by the server", s.Clients, s.Cut)
	if s.Cut > 0 {
		fmt.Fprintf(b, ", after p50 %s, max %s", duration(s.Took.P50), duration(s.Took.Max))
	}
	fmt.Fprintf(b, "; %d still served at the end\n", s.Kept)
}
