package llm

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	maxRetries = 3
	firstWait  = time.Second
	maxWait    = 8 * time.Second
)

// backoff is how long to wait before the next attempt, after so many retries: 1, 2 and 4 s or what the endpoint asks, and
// up to a quarter more, so that runs that were refused together do not try again together; 8 s at most
// (docs/protocols/zeus-agents.md#errors-of-a-run).
func backoff(retries int, asked time.Duration) time.Duration {
	wait := max(firstWait<<retries, asked)
	return min(wait+rand.N(wait/4+1), maxWait)
}

// retryAfter reads what an endpoint asks: seconds, a date, or the milliseconds that some add. 0 means nothing.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return bounded(ms / 1000)
	}
	asked := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(asked, 64); err == nil {
		return bounded(s)
	}
	if at, err := http.ParseTime(asked); err == nil {
		return bounded(time.Until(at).Seconds())
	}
	return 0
}

func bounded(seconds float64) time.Duration {
	if !(seconds > 0) { // NaN as well
		return 0
	}
	return time.Duration(min(seconds, maxWait.Seconds()) * float64(time.Second))
}

// sleep waits, and returns the context's cause if that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
