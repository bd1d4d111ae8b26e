package llm

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

// Only waiting counts as silence, from when it began; whoever asked for the pause may take long.
func TestWatch(t *testing.T) {
	t.Parallel()
	const silence = time.Minute
	for name, c := range map[string]struct {
		before func(*watch)
		ends   time.Duration // after the last start
	}{
		"the first piece":     {func(*watch) {}, silence},
		"after many pieces":   {func(w *watch) { pieces(w, 200, time.Second) }, silence},
		"after a long pause":  {func(w *watch) { w.start(); w.pause(); testkit.Advance(10 * silence) }, silence},
		"after a limit":       {func(w *watch) { pieces(w, 10, time.Second); w.limit(2 * time.Second) }, 2 * time.Second},
		"limits do not add":   {func(w *watch) { w.limit(time.Second); w.limit(time.Hour); pieces(w, 3, time.Second/2) }, time.Second},
		"pieces just in time": {func(w *watch) { pieces(w, 5, silence-time.Nanosecond) }, silence},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, w := newWatch(t.Context(), silence)
				defer w.end()
				c.before(w)
				if ctx.Err() != nil {
					t.Fatal("it ended before")
				}
				w.start()
				began := time.Now()
				<-ctx.Done()
				if took := time.Since(began); took != c.ends || !w.stalled() {
					t.Errorf("it ended after %v, stalled: %v, want after %v", took, w.stalled(), c.ends)
				}
			})
		})
	}
}

// pieces has the endpoint send n pieces, each after a time.
func pieces(w *watch, n int, each time.Duration) {
	for range n {
		w.start()
		testkit.Advance(each)
		w.pause()
	}
}
