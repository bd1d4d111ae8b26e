package browser

import (
	"context"
	"testing"
	"time"
)

// eventually asks again and again until the condition holds, and fails the test when it does not in time.
func eventually(t testing.TB, what string, holds func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !holds(ctx) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not in %v: %s", patience, what)
		}
	}
}
