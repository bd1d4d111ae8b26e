package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/load"
)

// report is all that was measured.
type report struct {
	When     time.Time
	Go       string
	CPUs     int
	Columns  []column
	Agents   *agentReport `json:",omitempty"`
	Flood    *besideFlood `json:",omitempty"`
	Idle     *idle        `json:",omitempty"`
	Scale    *scale       `json:",omitempty"`
	Duration time.Duration
}

// column is one point.
type column struct {
	point
	Series []series
}

func newReport() *report {
	return &report{When: time.Now().UTC(), Go: runtime.Version(), CPUs: runtime.NumCPU()}
}

// ratio compares a way with the relay: the median over the rounds of the quotient of a figure.
func (c column) ratio(way string, of func(figures) float64) float64 {
	relay, ours := c.rounds(wayRelay), c.rounds(way)
	quotients := make([]float64, len(ours))
	for i := range ours {
		quotients[i] = of(ours[i]) / of(relay[i])
	}
	return median(quotients, func(q float64) float64 { return q })
}

func (c column) rounds(way string) []figures {
	for _, s := range c.Series {
		if s.Way == way {
			return s.Rounds
		}
	}
	return nil
}

// line is one line of the table of ratios.
type line struct {
	way, figure string
	of          func(figures) float64
	// targets are bounds by column.
	targets map[point]target
}

// target is what a ratio should be.
type target struct {
	bound float64
	least bool // the bound is the least, not the most
}

func (t target) met(ratio float64) bool {
	if t.least {
		return ratio >= t.bound
	}
	return ratio <= t.bound
}

func (t target) String() string {
	if t.least {
		return fmt.Sprintf("≥ %.2f", t.bound)
	}
	return fmt.Sprintf("≤ %.2f", t.bound)
}

// bounds makes targets of the four columns that have some; 0 stands for none.
func bounds(least bool, c1, c64, c512, large64 float64) map[point]target {
	all := make(map[point]target)
	for p, b := range map[point]float64{
		{smallResult, 1}: c1, {smallResult, 64}: c64, {smallResult, 512}: c512, {largeResult, 64}: large64,
	} {
		if b > 0 {
			all[p] = target{b, least}
		}
	}
	return all
}

func p50(f figures) float64        { return float64(f.P50) }
func p99(f figures) float64        { return float64(f.P99) }
func perSecond(f figures) float64  { return f.PerSecond }
func cpuPerCall(f figures) float64 { return float64(f.CPUPerCall) }

var lines = []line{
	{wayAcross, "p50", p50, bounds(false, 1.15, 1.05, 1.05, 0.95)},
	{wayAcross, "p99", p99, nil},
	{wayAcross, "calls per second", perSecond, bounds(true, 0, 1.0, 1.0, 1.1)},
	{wayAcross, "CPU per call", cpuPerCall, bounds(false, 1.15, 1.0, 1.0, 0.85)},
	{wayLocal, "p50", p50, bounds(false, 0.35, 0.55, 0.55, 0.40)},
	{wayLocal, "p99", p99, nil},
	{wayLocal, "calls per second", perSecond, nil},
	{wayLocal, "CPU per call", cpuPerCall, bounds(false, 0.35, 0.55, 0.55, 0.40)},
}

// Bounds of what idle nodes cost.
const (
	maxIdleBytes = 13 << 10
	maxReturn    = 4 * time.Second
)

// write prints the tables.
func (r *report) write(w io.Writer) error {
	if len(r.Columns) > 0 {
		_ = r.ratios().Write(w, "")
		_, _ = fmt.Fprintln(w)
		_ = r.figures().Write(w, "")
		_, _ = fmt.Fprintln(w)
	}
	if r.Agents != nil {
		r.Agents.write(w)
	}
	if r.Flood != nil {
		r.Flood.write(w)
	}
	if r.Idle != nil {
		r.Idle.write(w)
	}
	if r.Scale != nil {
		r.Scale.write(w)
	}
	_, err := fmt.Fprintf(w, "%s, %d CPUs, %v in all; ! marks what is missed\n", r.Go, r.CPUs, r.Duration.Round(time.Second))
	return err
}

func (r *report) ratios() load.Table {
	t := load.Table{r.row("ours / bare relay", func(c column) string { return c.String() + " " })}
	for _, l := range lines {
		t = append(t, r.row(l.way+": "+l.figure, func(c column) string {
			ratio := c.ratio(l.way, l.of)
			bound, ok := l.targets[c.point]
			if !ok {
				return fmt.Sprintf("%.2f ", ratio)
			}
			return fmt.Sprintf("%.2f (%v)%s", ratio, bound, mark(bound.met(ratio)))
		}))
	}
	return t
}

// mark flags what misses its target.
func mark(met bool) string {
	if met {
		return " "
	}
	return "!"
}

func (r *report) figures() load.Table {
	t := load.Table{r.row("", func(c column) string { return c.String() })}
	for i, way := range ways {
		add := func(name string, text func(figures) string) {
			t = append(t, r.row(way+": "+name, func(c column) string { return text(c.Series[i].Overall) }))
		}
		add("p50", func(f figures) string { return micros(f.P50) })
		add("p99", func(f figures) string { return micros(f.P99) })
		add("calls per second", func(f figures) string { return fmt.Sprintf("%.0f", f.PerSecond) })
		add("CPU per call", func(f figures) string { return micros(f.CPUPerCall) })
		for k, part := range parts {
			add("CPU, "+part, func(f figures) string { return micros(f.Parts[k]) })
		}
	}
	return t
}

func (r *report) row(head string, cell func(column) string) []string {
	row := []string{head}
	for _, c := range r.Columns {
		row = append(row, cell(c))
	}
	return row
}

func micros(d time.Duration) string {
	return fmt.Sprintf("%.1f µs", float64(d)/float64(time.Microsecond))
}

func (i *idle) write(w io.Writer) {
	t := load.Table{{fmt.Sprintf("%d idle nodes at one pod, per node", i.Nodes), "RSS ", "Go heap", "stacks"}}
	for _, m := range []struct {
		name string
		memory
	}{{"when quiet", i.Quiet}, {"after a garbage collection", i.Collected}} {
		rss := fmt.Sprintf("%s (≤ %s)%s", kib(m.RSS), kib(maxIdleBytes), mark(m.RSS <= maxIdleBytes))
		t = append(t, []string{m.name, rss, kib(m.Heap), kib(m.Stacks)})
	}
	_ = t.Write(w, "")
	_, _ = fmt.Fprintln(w)
	t = load.Table{
		{"all of them registered within", seconds(i.Connected)},
		{"at another pod after theirs was killed within",
			fmt.Sprintf("%s(< %v)%s", seconds(i.Returned), maxReturn, mark(i.Returned < maxReturn))},
	}
	for _, name := range slices.Sorted(maps.Keys(i.CPU)) {
		t = append(t, []string{"  CPU of the " + name, seconds(i.CPU[name])})
	}
	t = append(t, []string{"  attempts to connect that failed", fmt.Sprintf("%d ", i.Retries)})
	_ = t.Write(w, "")
	_, _ = fmt.Fprintln(w)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s ", d.Seconds()) }

func kib(bytes float64) string { return fmt.Sprintf("%.1f KiB", bytes/1024) }

// save writes all figures to a file.
func (r *report) save(path string) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(raw, '\n'), 0o644)
}
