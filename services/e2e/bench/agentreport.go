package main

import (
	"fmt"
	"io"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
)

// agentReport is all that was measured of agents.
type agentReport struct {
	Loops   []agentColumn
	First   []agentSeries
	Streams *streamReport
	// Waiting and Streaming are how many runs did.
	Waiting, Streaming int
	Memory             []agentMemory
}

// streamReport is what many streams at once did.
type streamReport struct {
	Count, Words int
	Pace         time.Duration
	Series       []streamSeries
}

// The targets of docs/performance.md#agents: a loop beside a bare one, and what is added to the first token, by database; streams
// beside the model's own.
var (
	maxLoop  = map[string]float64{waySQLite: 1.5, wayPostgres: 1.8}
	maxAdded = map[string]time.Duration{waySQLite: 1500 * time.Microsecond, wayPostgres: 2 * time.Millisecond}
)

const (
	maxFirst      = 2
	maxGap        = 1.3
	maxWaitingRun = 64 << 10
)

func agentP50(f agentFigures) float64 { return float64(f.P50) }
func agentP99(f agentFigures) float64 { return float64(f.P99) }
func agentCPU(f agentFigures) float64 { return float64(f.CPU) }

// against compares a series with the first one: the median over the rounds of what the function of returns for both.
func against[T any](first, other []T, of func(first, other T) float64) float64 {
	pairs := make([]int, len(other))
	for i := range pairs {
		pairs[i] = i
	}
	return median(pairs, func(i int) float64 { return of(first[i], other[i]) })
}

func quotient[T any](of func(T) float64) func(first, other T) float64 {
	return func(first, other T) float64 { return of(other) / of(first) }
}

func (r *agentReport) write(w io.Writer) {
	var tables []load.Table
	if len(r.Loops) > 0 {
		tables = append(tables, r.loopRatios(), r.loopFigures())
	}
	if len(r.First) > 0 {
		tables = append(tables, r.firstTokens())
	}
	if r.Streams != nil {
		tables = append(tables, r.streams())
	}
	if len(r.Memory) > 0 {
		tables = append(tables, r.memory())
	}
	for _, t := range tables {
		_ = t.Write(w, "")
		_, _ = fmt.Fprintln(w)
	}
}

func (r *agentReport) loopRow(head string, cell func(agentColumn) string) []string {
	row := []string{head}
	for _, c := range r.Loops {
		row = append(row, cell(c))
	}
	return row
}

func (r *agentReport) loopRatios() load.Table {
	t := load.Table{r.loopRow("agents: ours / bare loop", func(c agentColumn) string { return c.Case + " " })}
	for i := range r.Loops[0].Series[1:] {
		ratio := func(c agentColumn, of func(agentFigures) float64) float64 {
			return against(c.Series[0].Rounds, c.Series[i+1].Rounds, quotient(of))
		}
		way := r.Loops[0].Series[i+1].Way
		t = append(t, r.loopRow(way+": p50", func(c agentColumn) string {
			v := ratio(c, agentP50)
			return fmt.Sprintf("%.2f (≤ %.1f)%s", v, maxLoop[way], mark(v <= maxLoop[way]))
		}))
		t = append(t, r.loopRow(way+": p99", func(c agentColumn) string { return fmt.Sprintf("%.2f ", ratio(c, agentP99)) }))
		t = append(t, r.loopRow(way+": CPU per run", func(c agentColumn) string { return fmt.Sprintf("%.2f ", ratio(c, agentCPU)) }))
	}
	return t
}

func (r *agentReport) loopFigures() load.Table {
	t := load.Table{r.loopRow("", func(c agentColumn) string { return c.Case })}
	for i, s := range r.Loops[0].Series {
		add := func(name string, of func(agentFigures) time.Duration) {
			t = append(t, r.loopRow(s.Way+": "+name, func(c agentColumn) string { return micros(of(c.Series[i].Overall)) }))
		}
		add("p50", func(f agentFigures) time.Duration { return f.P50 })
		add("p99", func(f agentFigures) time.Duration { return f.P99 })
		add("CPU per run", func(f agentFigures) time.Duration { return f.CPU })
	}
	return t
}

func (r *agentReport) firstTokens() load.Table {
	t := load.Table{{"agents: time to the first token", "p50", "p99", "added to p50 "}}
	for i, s := range r.First {
		row := []string{s.Way, micros(s.Overall.P50), micros(s.Overall.P99)}
		if i > 0 {
			row[0] = "gateway, orchestrator, " + s.Way
			added := time.Duration(against(r.First[0].Rounds, s.Rounds, func(direct, ours agentFigures) float64 {
				return float64(ours.P50 - direct.P50)
			}))
			row = append(row, fmt.Sprintf("%s (≤ %s)%s", micros(added), micros(maxAdded[s.Way]), mark(added <= maxAdded[s.Way])))
		}
		t = append(t, row)
	}
	return t
}

func (r *agentReport) streams() load.Table {
	s := r.Streams
	head := []string{fmt.Sprintf("agents: %d streams of %d tokens, %v a token", s.Count, s.Words, s.Pace)}
	t := load.Table{head}
	for _, way := range s.Series {
		t[0] = append(t[0], way.Way)
	}
	// bound is the target of the ratio to the model's own; 0 is none, and below 0 there is no ratio.
	add := func(name string, of func(streamFigures) float64, text func(float64) string, bound float64) {
		row := []string{name}
		for i, way := range s.Series {
			cell := text(median(way.Rounds, of))
			if ratio := against(s.Series[0].Rounds, way.Rounds, quotient(of)); i > 0 && bound > 0 {
				cell += fmt.Sprintf(" (%.2f ×, ≤ %.1f)%s", ratio, bound, mark(ratio <= bound))
			} else if i > 0 && bound == 0 {
				cell += fmt.Sprintf(" (%.2f ×)", ratio)
			}
			row = append(row, cell)
		}
		t = append(t, row)
	}
	length := func(f float64) string { return micros(time.Duration(f)) }
	add("tokens per second", func(f streamFigures) float64 { return f.Tokens }, func(v float64) string { return fmt.Sprintf("%.0f", v) }, 0)
	add("between pieces: p50", func(f streamFigures) float64 { return float64(f.P50) }, length, 0)
	add("between pieces: p99", func(f streamFigures) float64 { return float64(f.P99) }, length, maxGap)
	add("tokens per piece", func(f streamFigures) float64 { return f.PerPiece }, func(v float64) string { return fmt.Sprintf("%.2f", v) }, -1)
	add("first token: p50", func(f streamFigures) float64 { return float64(f.First) }, length, maxFirst)
	add("CPU per token, orchestrator", func(f streamFigures) float64 { return float64(f.CPU) }, length, -1)
	add("CPU per token, model", func(f streamFigures) float64 { return float64(f.ModelCPU) }, length, -1)
	return t
}

func (r *agentReport) memory() load.Table {
	t := load.Table{{"agents: memory per run", "RSS ", "Go heap", "stacks"}}
	for _, m := range r.Memory {
		rss := fmt.Sprintf("%s (< %s)%s", kib(m.Waiting.RSS), kib(maxWaitingRun), mark(m.Waiting.RSS < maxWaitingRun))
		t = append(t,
			[]string{fmt.Sprintf("%s: %d wait for a person", m.Way, r.Waiting), rss, kib(m.Waiting.Heap), kib(m.Waiting.Stacks)},
			[]string{fmt.Sprintf("%s: %d stream", m.Way, r.Streaming), kib(m.Streaming.RSS) + " ", kib(m.Streaming.Heap), kib(m.Streaming.Stacks)})
	}
	return t
}
