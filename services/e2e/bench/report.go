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
	MCP      *mcpReport   `json:",omitempty"`
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

// ratio compares a way with another: the median over the rounds of the quotient of a figure.
func (c column) ratio(way, base string, of func(figures) float64) float64 {
	return ofRounds(c.rounds(way), c.rounds(base), of)
}

// ofRounds is the median of the quotients of rounds.
func ofRounds(these, those []figures, of func(figures) float64) float64 {
	quotients := make([]float64, len(these))
	for i := range these {
		quotients[i] = of(these[i]) / of(those[i])
	}
	return median(quotients, func(q float64) float64 { return q })
}

func (c column) rounds(way string) []figures { return c.series(way).Rounds }

func (c column) series(way string) series {
	return c.Series[slices.IndexFunc(c.Series, func(s series) bool { return s.Way == way })]
}

// Bounds of what idle nodes cost.
const (
	maxIdleBytes = 13 << 10
	maxReturn    = 4 * time.Second
)

// write prints the tables.
func (r *report) write(w io.Writer) error {
	for _, g := range groups {
		if t := r.table(g); len(t.columns) > 0 {
			t.write(w)
		}
	}
	if r.Agents != nil {
		r.Agents.write(w)
	}
	if r.Flood != nil {
		r.Flood.write(w)
	}
	if r.MCP != nil {
		r.MCP.write(w)
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

// mark flags what misses its target.
func mark(met bool) string {
	if met {
		return " "
	}
	return "!"
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
