package main

import (
	"fmt"
	"io"

	"github.com/hecaton-dev/hecaton/pkg/load"
)

// table is a group and its columns that were measured.
type table struct {
	group
	columns []column
}

func (r *report) table(g group) table {
	t := table{group: g}
	for _, c := range r.Columns {
		if c.Group == g.name {
			t.columns = append(t.columns, c)
		}
	}
	return t
}

func (t table) write(w io.Writer) {
	_ = t.ratios().Write(w, "")
	_, _ = fmt.Fprintln(w)
	if t.grows != "" && len(t.columns) > 1 {
		_ = t.growth().Write(w, "")
		_, _ = fmt.Fprintln(w)
	}
	_ = t.figures().Write(w, "")
	_, _ = fmt.Fprintln(w)
}

// ratios has each way of ours beside the relay's.
func (t table) ratios() load.Table {
	lines := load.Table{t.row(t.name+": ours / "+t.ways[0], func(c column) string { return c.String() + " " })}
	for _, way := range t.ways {
		for i, base := range t.bases(way) {
			name := way
			if i > 0 {
				name += " / " + base
			}
			for _, f := range allFigures {
				lines = append(lines, t.row(name+": "+f.name, func(c column) string {
					return ratioText(c.ratio(way, base, f.of), bars, cell{t.name, c.String(), name, f.name})
				}))
			}
		}
	}
	return lines
}

// growth has each way beside itself in the first column.
func (t table) growth() load.Table {
	few := t.columns[0]
	lines := load.Table{t.row("more "+t.grows+" / "+few.String(), func(c column) string { return c.String() + " " })}
	for _, way := range t.ways {
		for _, f := range []figure{figureP50, figureCPU} {
			lines = append(lines, t.row(way+": "+f.name, func(c column) string {
				return ratioText(ofRounds(c.rounds(way), few.rounds(way), f.of), growths, cell{t.name, c.String(), way, f.name})
			}))
		}
	}
	return lines
}

// figures has what each way did.
func (t table) figures() load.Table {
	lines := load.Table{t.row(t.name, func(c column) string { return c.String() })}
	for _, way := range t.ways {
		add := func(name string, text func(figures) string) {
			lines = append(lines, t.row(way+": "+name, func(c column) string { return text(c.series(way).Overall) }))
		}
		add("p50", func(f figures) string { return micros(f.P50) })
		add("p99", func(f figures) string { return micros(f.P99) })
		add("calls per second", func(f figures) string { return fmt.Sprintf("%.0f", f.PerSecond) })
		add("CPU per call", func(f figures) string { return micros(f.CPUPerCall) })
		for k, part := range parts {
			add("CPU, "+part, func(f figures) string { return micros(f.Parts[k]) })
		}
	}
	return lines
}

func (t table) row(head string, text func(column) string) []string {
	row := []string{head}
	for _, c := range t.columns {
		row = append(row, text(c))
	}
	return row
}

// ratioText is a ratio with its target, where it has one.
func ratioText(ratio float64, targets map[cell]target, at cell) string {
	bound, ok := targets[at]
	if !ok {
		return fmt.Sprintf("%.2f ", ratio)
	}
	return fmt.Sprintf("%.2f (%v)%s", ratio, bound, mark(bound.met(ratio)))
}
