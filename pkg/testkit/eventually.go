package testkit

import (
	"testing"
	"time"
)

// Eventually polls cond until it holds, and ends the test when it does not within the given time: the way to wait for
// something that sends no signal. The message says what was awaited; arguments are formatted into it.
//
// cond is asked at once, then at intervals that grow from 1 ms to 50 ms, on the test's goroutine, and one last time when
// the time is up: a machine that stalls is not a failure.
func Eventually(t testing.TB, within time.Duration, cond func() bool, msg string, args ...any) {
	t.Helper()
	deadline := time.Now().Add(within)
	for pause := time.Millisecond; !cond(); pause = min(2*pause, 50*time.Millisecond) {
		left := time.Until(deadline)
		if left <= 0 {
			t.Fatalf("not within "+within.String()+": "+msg, args...)
		}
		<-time.After(min(pause, left))
	}
}
