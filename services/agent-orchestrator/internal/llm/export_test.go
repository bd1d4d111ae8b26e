package llm

import (
	"context"
	"time"
)

// RecordWaits makes c not wait between attempts, and returns how long it would have.
func RecordWaits(c *Client) *[]time.Duration {
	var waits []time.Duration
	c.sleep = func(ctx context.Context, d time.Duration) error {
		waits = append(waits, d)
		return context.Cause(ctx)
	}
	return &waits
}
