package sleep_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
)

func TestFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		if !sleep.For(t.Context(), time.Minute) || time.Since(begin) != time.Minute {
			t.Errorf("a minute took %v", time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin = time.Now()
		if sleep.For(ctx, time.Minute) || time.Since(begin) != time.Second {
			t.Errorf("it ended %v after it began, and the context after a second", time.Since(begin))
		}
		begin = time.Now()
		if !sleep.For(t.Context(), -time.Second) || time.Since(begin) != 0 {
			t.Errorf("no time at all took %v", time.Since(begin))
		}
	})
}
