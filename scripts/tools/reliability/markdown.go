package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// markdown is the tables.
func (r report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.0f s, %d nodes, %d callers with %g calls/s in all, %d runs of agents at once.\n\n", r.Took, r.Load.Nodes,
		r.Load.Callers, r.Load.Rate, r.Load.Runs)
	r.ledgers(&b)
	b.WriteString("\n**Calls.** Some were answered after tries that were not delivered; these are counted by reason.\n\n" +
		"| what happened | calls | answered | of these tried again | outcome unknown | p99 | worst | all answered again after | twice |\n" +
		"|---|--:|--:|---|---|--:|--:|--:|--:|\n")
	r.each(func(f fault) {
		all := f.Calls.Latency["all"]
		fmt.Fprintf(&b, "| %s | %d | %d | %s | %s | %s | %s | %s | %d |\n", f.title(), f.Calls.Ended, f.Calls.Answered, f.retried(),
			counts(f.Calls.Unknowns), seconds(all.P99), seconds(all.Max), f.again(), f.Twice)
	})
	b.WriteString("\n**Runs of agents**, of two tool calls each on average; every run ended `stop`.\n\n" +
		"| what happened | runs | streams picked up again | tool calls | outcome unknown | longest run | twice |\n|---|--:|--:|--:|--:|--:|--:|\n")
	r.each(func(f fault) {
		if u := f.Runs; u != nil {
			steps := 0
			for _, n := range u.Steps {
				steps += n
			}
			fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %s | %d |\n", f.title(), u.Ended, u.Resumed, steps, u.Steps["unknown"],
				seconds(u.Took.Max), f.StepsTwice)
		}
	})
	return b.String()
}

// each calls do for every row.
func (r report) each(do func(fault)) {
	if r.Calm != nil {
		r.Calm.Name = "(nothing)"
		do(*r.Calm)
	}
	for _, f := range r.Faults {
		do(f)
	}
}

func (r report) ledgers(b *strings.Builder) {
	b.WriteString("| the ledger of both ends | sent | answered | not delivered | unknown | of these executed | executed | executed twice |\n" +
		"|---|--:|--:|--:|--:|--:|--:|--:|\n")
	row := func(name string, l *balance) {
		if l != nil {
			fmt.Fprintf(b, "| %s | %d | %d | %d | %d | %d | %d | %d |\n", name, l.Sent, l.Answered, l.NotDelivered, l.Unknown, l.UnknownExecuted,
				l.Executed, l.Faults["executed twice"])
		}
	}
	row("calls", &r.Ledger)
	row("tool calls of runs", r.Steps)
}

// title marks what must be lossless, and what also for runs.
func (f fault) title() string {
	switch {
	case f.OfRunsToo:
		return f.Name + " \\*\\*"
	case f.Lossless:
		return f.Name + " \\*"
	}
	return f.Name
}

// again is how long it took until all was well.
func (f fault) again() string {
	if f.Trouble == 0 {
		return "at once"
	}
	return seconds(f.Trouble)
}

func (f fault) retried() string {
	if f.Calls.Retried+f.Calls.NotDelivered == 0 {
		return "–"
	}
	text := fmt.Sprintf("%d: %s", f.Calls.Retried, counts(f.Calls.Refusals))
	if f.Calls.NotDelivered > 0 {
		text += "; given up " + counts(f.Calls.GivenUp)
	}
	return text
}

func seconds(s float64) string {
	switch {
	case s < 1:
		return fmt.Sprintf("%.0f ms", s*1000)
	case s < 10:
		return fmt.Sprintf("%.1f s", s)
	}
	return fmt.Sprintf("%.0f s", s)
}

// counts writes what was counted, the most frequent first.
func counts(m map[string]int) string {
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if m[a] != m[b] {
			return m[b] - m[a]
		}
		return strings.Compare(a, b)
	})
	var out []string
	for _, name := range names {
		out = append(out, fmt.Sprintf("`%s` %d", name, m[name]))
	}
	if len(out) == 0 {
		return "–"
	}
	return strings.Join(out, ", ")
}
