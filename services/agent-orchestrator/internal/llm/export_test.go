package llm

import (
	"context"
	"io"
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

// Drained waits until the connections of answers that have ended are free.
func Drained(c *Client) { c.drains.Wait() }

// Merge is what becomes of a stream of these bytes.
func Merge(stream io.Reader, on func(Delta) error) (Answer, error) {
	_, w := newWatch(context.Background(), time.Hour) //nolint:forbidigo // fuzzing has no test's context of its own
	defer w.end()
	m := &merger{on: on}
	err := m.events(&body{from: io.NopCloser(stream), watch: w})
	return m.answer(), err
}

var RetryAfter, Backoff = retryAfter, backoff
