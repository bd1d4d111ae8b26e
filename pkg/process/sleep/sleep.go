// Package sleep is time.Sleep that ends early when its context does.
package sleep

import (
	"context"
	"time"
)

// For waits for d, or until ctx ends, and reports whether d passed; if not, [context.Cause] says why. Without a d to wait
// for it returns at once.
func For(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
