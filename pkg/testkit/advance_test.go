package testkit

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAdvanceSettlesWhatIsDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ticks := 0
		ctx := t.Context()
		go func() {
			ticker := time.NewTicker(time.Second)
			defer ticker.Stop()
			for {
				select {
				case <-ticker.C:
					ticks++ // no lock: Advance orders it before the test's read
				case <-ctx.Done():
					return
				}
			}
		}()
		Advance(3 * time.Second)
		if ticks != 3 {
			t.Errorf("%d ticks in 3 s", ticks)
		}
	})
}

func TestAdvanceIsForBubblesOnly(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("it slept in real time")
		}
	}()
	Advance(time.Hour)
}
