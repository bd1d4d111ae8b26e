package errs

import (
	"net/http"
	"testing"
	"time"
)

func TestLimitHeadersRoundUp(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{
		0: "1", time.Millisecond: "1", time.Second: "1", time.Second + 1: "2", 59500 * time.Millisecond: "60",
	} {
		h := http.Header{}
		(&LimitMet{Name: "calls", Limit: 400, Remaining: 3, RetryAfter: wait}).Headers(h)
		if h.Get("Retry-After") != want || h.Get("RateLimit-Reset") != want || h.Get("RateLimit-Limit") != "400" || h.Get("RateLimit-Remaining") != "3" {
			t.Errorf("after %v: %v", wait, h)
		}
	}
}

func TestLimitsInAStatus(t *testing.T) {
	t.Parallel()
	sent := LimitMet{Name: "files", Limit: 1 << 40, Remaining: 12, RetryAfter: 1500 * time.Millisecond}
	metadata := map[string]string{"outcome": "not_delivered"}
	sent.describe(metadata)
	if got := readLimit(metadata, sent.retryInfo()); got == nil || *got != sent {
		t.Errorf("came back as %+v", got)
	}
	if got := readLimit(map[string]string{"outcome": "unknown"}, nil); got != nil {
		t.Errorf("read %+v from nothing", got)
	}
}
