package frame

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestReadGrowsAndKeepsTheBytes(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 1023, 1024, 1025, 200 << 10, 10 << 20, 17 << 20} {
		want := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		for name, r := range map[string]io.Reader{"whole": bytes.NewReader(want), "half": iotest.HalfReader(bytes.NewReader(want))} {
			budget := NewBudget(64 << 20)
			b, err := Read(t.Context(), r, 0, budget, "")
			if err != nil || !bytes.Equal(b.Bytes(), want) {
				t.Fatalf("%d bytes, %s: got %d, %v", size, name, len(b.Bytes()), err)
			}
			if large := budget.Used() > 0; large != (size > Large/2) {
				t.Errorf("%d bytes: %d counted", size, budget.Used())
			}
			b.Release()
			if budget.Used() != 0 {
				t.Errorf("%d bytes stay counted after the release", budget.Used())
			}
		}
	}
}

func TestReadGivesBackOnError(t *testing.T) {
	t.Parallel()
	budget := NewBudget(1 << 20)
	r := io.MultiReader(strings.NewReader(strings.Repeat("x", 300<<10)), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := Read(t.Context(), r, 0, budget, ""); err == nil || budget.Used() != 0 {
		t.Fatalf("%v, %d bytes counted", err, budget.Used())
	}
}

func TestBudgetIsFairAndSoft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		b.take(t.Context(), "", 80)
		order := make(chan string, 3)
		start := time.Now()
		go func() { b.take(t.Context(), "", 50); order <- "first" }()
		synctest.Wait()
		go func() { b.take(t.Context(), "", 10); order <- "second" }()
		synctest.Wait()
		if len(order) != 0 {
			t.Fatal("somebody overtook")
		}
		b.give("", 80)
		synctest.Wait()
		if len(order) != 2 || b.Used() != 60 {
			t.Fatalf("%d passed, %d used", len(order), b.Used())
		}
		b.take(t.Context(), "", 90)
		if waited := time.Since(start); waited != patience || b.Used() != 150 {
			t.Fatalf("waited %v, %d used", waited, b.Used())
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		b.take(ctx, "", 1000)
		if b.Used() != 1150 {
			t.Fatalf("%d used", b.Used())
		}
	})
}

// One owner's frames wait for one another, and for nobody else's time.
func TestWhoTakesAllHoldsUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		b.take(t.Context(), "flood", 50)
		for range 3 {
			go b.take(t.Context(), "flood", 40)
		}
		synctest.Wait()
		if b.Used() != 50 {
			t.Fatalf("one owner has %d of 100", b.Used())
		}
		start := time.Now()
		b.take(t.Context(), "calm", 30)
		if took := time.Since(start); took != 0 {
			t.Errorf("another owner waited %v", took)
		}
		time.Sleep(patience) //nolint:forbidigo // of the bubble's own clock: the flood's patience ends
		synctest.Wait()
		if b.Used() != 50+30+3*40 {
			t.Fatalf("%d are used", b.Used())
		}
		start = time.Now()
		b.take(t.Context(), "calm", 20)
		if took := time.Since(start); took != 0 {
			t.Errorf("another owner waited %v for what was taken beyond the share", took)
		}
		for _, n := range []int64{50, 40, 40, 40} {
			b.give("flood", n)
		}
		b.give("calm", 30)
		b.give("calm", 20)
		if b.Used() != 0 || b.counted != 0 || len(b.owners) != 0 {
			t.Errorf("%d used, %d counted, %v", b.Used(), b.counted, b.owners)
		}
	})
}

func TestMemReleasesOnce(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, 4 << 10} {
		budget := NewBudget(1 << 20)
		b := Get(size)
		b.data = append(b.data, bytes.Repeat([]byte("x"), size)...)
		budget.take(t.Context(), "", 1)
		b.budget, b.taken = budget, 1
		m := b.Mem(b.Bytes()[1:])
		if m.Len() != size-1 {
			t.Fatal(m.Len())
		}
		m.Ref()
		m.Free()
		m.Free()
		if budget.Used() != 0 {
			t.Errorf("%d bytes: not released", size)
		}
	}
}
