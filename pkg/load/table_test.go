package load

import (
	"strings"
	"testing"
	"time"
)

func TestTableIsAligned(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	rows := Table{{"", "p50", "p99 "}, {"ours", "9 µs", "1,234 µs "}, {"alone"}}
	if err := rows.Write(&b, "  "); err != nil {
		t.Fatal(err)
	}
	if want := "          p50       p99\n  ours   9 µs  1,234 µs\n  alone\n"; b.String() != want {
		t.Errorf("got\n%swant\n%s", &b, want)
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	start := time.Unix(1, 0)
	for n, want := range map[int64]time.Duration{0: 0, 1: 250 * time.Millisecond, 4_000_000: 1_000_000 * time.Second} {
		if got := Due(start, 4, n).Sub(start); got != want {
			t.Errorf("call %d is due after %v, want %v", n, got, want)
		}
	}
}
