package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// number writes an integer with commas.
func number[T int | uint64](n T) string {
	digits := strconv.FormatUint(uint64(n), 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Duration writes three significant digits, in the unit that suits.
func Duration(d time.Duration) string { return duration(Seconds(d)) }

func duration(s Seconds) string {
	d := time.Duration(s)
	unit, name := time.Second, "s"
	switch {
	case d == 0:
		return "0"
	case d < time.Millisecond:
		unit, name = time.Microsecond, "µs"
	case d < time.Second:
		unit, name = time.Millisecond, "ms"
	}
	v := float64(d) / float64(unit)
	decimals := 2
	if v >= 100 {
		decimals = 0
	} else if v >= 10 {
		decimals = 1
	}
	return strconv.FormatFloat(v, 'f', decimals, 64) + " " + name
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
		if m[name] > 0 {
			out = append(out, fmt.Sprintf("%s %s", name, number(m[name])))
		}
	}
	return strings.Join(out, ", ")
}
