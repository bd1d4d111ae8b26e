package testkit

import (
	"testing/synctest"
	"time"
)

// Advance lets the clock of a synctest bubble run on by d, then waits until every other goroutine of the bubble has done
// what was due and blocks. Outside of a bubble it panics: real time is waited for with Eventually.
func Advance(d time.Duration) {
	synctest.Wait() // first, so that outside of a bubble no time is lost, and inside every timer is armed
	time.Sleep(d)
	synctest.Wait()
}
