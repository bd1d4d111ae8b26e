package testkit

import "time"

// Pass lets real time pass where the time itself is what a test is about: how long an outage lasts, a tool works, or the
// pieces of a slow request are apart. To wait until something has happened is Eventually's.
func Pass(d time.Duration) { <-time.After(d) }
