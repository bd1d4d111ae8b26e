package report

import (
	"fmt"
	"math"
	"strings"
	"time"
)

const (
	chartWidth  = 72
	chartHeight = 12
	chartMargin = 9 // for what stands at the left
	maxWide     = 6 // characters of one column
)

// Chart is the latency over time, as text: the worst p50, p99 and maximum of each column, on a logarithmic scale, the rate
// of answers below it, and where faults were.
func (r *Report) Chart() string {
	cols, per := r.columns(chartWidth)
	wide := max(chartWidth/max(len(cols), 1), 1)
	wide = min(wide, maxWide)
	var b strings.Builder
	writePlot(&b, cols, wide)
	most := 0.0
	for _, c := range cols {
		most = max(most, c.answered)
	}
	line := func(name string, cell func(i int, c column) string) {
		row := ""
		for i, c := range cols {
			row += strings.Repeat(cell(i, c), wide)
		}
		if strings.TrimSpace(row) != "" {
			fmt.Fprintf(&b, "%*s  %s\n", chartMargin, name, strings.TrimRight(row, " "))
		}
	}
	line("answers", func(_ int, c column) string { return bar(c.answered, most) })
	line("refused", func(_ int, c column) string { return mark(c.refused, "r") })
	line("unknown", func(_ int, c column) string { return mark(c.unknown, "?") })
	line("faults", func(i int, _ column) string { return r.faultAt(i, per) })
	b.WriteString(axis(len(cols), per, wide))
	fmt.Fprintf(&b, "\n  . max   o p99   # p50, of the calls meant to begin then: a column is %s, and shows its worst.\n", seconds(per))
	fmt.Fprintf(&b, "  Answers: at most %.0f a second.\n", most)
	for i, f := range r.Faults {
		fmt.Fprintf(&b, "  %s %s\n", label(i), f.Name)
	}
	return b.String()
}

func seconds(n int) string {
	if n == 1 {
		return "a second"
	}
	return fmt.Sprintf("%d seconds", n)
}

// writePlot draws the three series; a better one covers a worse one.
func writePlot(b *strings.Builder, cols []column, wide int) {
	s := newScale(cols)
	row := func(d time.Duration) int { return int(math.Round(s.at(d) * (chartHeight - 1))) }
	grid := make([][]byte, chartHeight)
	for i := range grid {
		grid[i] = []byte(strings.Repeat(" ", wide*len(cols)))
	}
	for i, c := range cols {
		for x := wide * i; x < wide*(i+1) && c.any; x++ {
			grid[row(c.max)][x] = '.'
			grid[row(c.p99)][x] = 'o'
			grid[row(c.p50)][x] = '#'
		}
	}
	names := map[int]string{}
	for _, d := range s.decades() {
		names[row(d)] = decade(d)
	}
	for y := chartHeight - 1; y >= 0; y-- {
		fmt.Fprintf(b, "%*s |%s\n", chartMargin, names[y], strings.TrimRight(string(grid[y]), " "))
	}
}

// bar is one of eight heights.
func bar(v, most float64) string {
	if v <= 0 || most <= 0 {
		return " "
	}
	return string([]rune("▁▂▃▄▅▆▇█")[min(int(v/most*8), 7)])
}

func mark(v float64, sign string) string {
	if v > 0 {
		return sign
	}
	return " "
}

// faultAt is the label of the fault in whose time a column is.
func (r *Report) faultAt(col, per int) string {
	from, to := Seconds(time.Duration(col*per)*time.Second), Seconds(time.Duration((col+1)*per)*time.Second)
	for i, f := range r.Faults {
		if f.From < to && f.To > from {
			return label(i)
		}
	}
	return " "
}

// axis is the time below a chart.
func axis(cols, per, wide int) string {
	const least = 12 // characters between two times
	every := (least + wide - 1) / wide
	line, times := "", ""
	for i := 0; i < cols; i += every {
		line += "+" + strings.Repeat("-", wide*min(every, cols-i)-1)
		times += fmt.Sprintf("%-*s", wide*every, (time.Duration(i*per) * time.Second).String())
	}
	return fmt.Sprintf("%*s %s\n%*s %s\n", chartMargin, "", " "+line, chartMargin, "", " "+strings.TrimRight(times, " "))
}
