package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// rows are the rows of the table that are drawn, with what each is called in the chart.
var rows = []struct{ row, class, label string }{
	{"across pods: p50", "bar1", "time of a call (p50)"},
	{"across pods: CPU per call", "bar2", "CPU per call"},
	{"across pods: calls per second", "bar3", "calls per second"},
}

const (
	firstCell = "| ours / bare relay | 200 B" // of the table's head; agents have a table of their own
	unit      = 90                            // pixels for a ratio of 1
	bottom    = 330
)

var ratio = regexp.MustCompile(`[0-9]+\.[0-9]+`)

// bench draws the ratios of the first table of docs/performance.md that compares Hecaton with a bare relay.
func bench(page string) (string, error) {
	_, table, found := strings.Cut(page, firstCell)
	if !found {
		return "", fmt.Errorf("there is no table that begins %q", firstCell)
	}
	table, _, _ = strings.Cut(firstCell+table, "\n\n")
	columns := cells(strings.SplitN(table, "\n", 2)[0])[1:]
	c := newCanvas(900, 400, "Bar chart: a call on a stream across pods beside a bare relay of streams, for small and large answers and 1 to 512 calls at once")
	c.text("bold", 24, 34, "A call on a stream across pods, beside a bare relay of streams (1 = the relay)")
	c.text("small muted", 24, 54, "Lower is better for time and CPU, higher for calls per second. B, KiB: size of the answer; c: calls at once.")
	for _, at := range []int{0, 1, 2} {
		y := bottom - at*unit
		c.line("line", 60, y, 876, y)
		c.text("small muted end", 52, y+4, strconv.Itoa(at))
	}
	group := 816 / len(columns)
	for r, row := range rows {
		values, err := valuesOf(table, row.row, len(columns))
		if err != nil {
			return "", err
		}
		for i, v := range values {
			x := 60 + i*group + group/2 - 57 + r*39
			c.bar(row.class, x, bottom, 36, int(v*unit+.5))
			c.text("small middle", x+18, bottom-int(v*unit+.5)-6, fmt.Sprintf("%.2f", v))
		}
		c.bar(row.class, 60+r*220, 383, 14, 14)
		c.text("small", 80+r*220, 381, row.label)
	}
	for i, column := range columns {
		c.text("small middle", 60+i*group+group/2, bottom+20, column)
	}
	return c.end(), nil
}

// valuesOf returns the first number of each cell of a row.
func valuesOf(table, name string, count int) ([]float64, error) {
	for line := range strings.SplitSeq(table, "\n") {
		row := cells(line)
		if row[0] != name {
			continue
		}
		values := make([]float64, 0, count)
		for _, cell := range row[1:] {
			v, err := strconv.ParseFloat(ratio.FindString(cell), 64)
			if err != nil {
				return nil, fmt.Errorf("row %q: no number in %q", name, cell)
			}
			values = append(values, v)
		}
		if len(values) != count {
			return nil, fmt.Errorf("row %q has %d values, the table has %d columns", name, len(values), count)
		}
		return values, nil
	}
	return nil, fmt.Errorf("the table has no row %q", name)
}

// cells splits a row of a Markdown table.
func cells(line string) []string {
	list := strings.Split(strings.Trim(line, "| "), "|")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}
