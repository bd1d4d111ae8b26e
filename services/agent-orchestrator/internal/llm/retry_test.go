package llm_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for value, want := range map[string]time.Duration{
		"": 0, "0": 0, "-3": 0, "soon": 0, "NaN": 0, "2": 2 * s, "1.5": 1500 * time.Millisecond, "9999999999": 8 * s, "+Inf": 8 * s,
		time.Now().Add(time.Hour).UTC().Format(http.TimeFormat): 8 * s, "Mon, 02 Jan 2006 15:04:05 GMT": 0,
	} {
		if got := llm.RetryAfter(http.Header{"Retry-After": {value}}); got != want {
			t.Errorf("%q is %s, want %s", value, got, want)
		}
	}
	if got := llm.RetryAfter(http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"7"}}); got != s/4 {
		t.Errorf("milliseconds are %s", got)
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for retries, c := range []struct{ asked, least, most time.Duration }{
		{0, s, s + s/4}, {0, 2 * s, 2*s + s/2}, {0, 4 * s, 5 * s}, {8 * s, 8 * s, 8 * s},
	} {
		for range 100 {
			if got := llm.Backoff(retries, c.asked); got < c.least || got > c.most {
				t.Fatalf("after %d retries: %s, want %s to %s", retries, got, c.least, c.most)
			}
		}
	}
}
