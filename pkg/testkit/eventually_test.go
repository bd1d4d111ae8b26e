package testkit

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// failing is a testing.TB that records the failure and ends the goroutine, as a real one does.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// eventually runs Eventually in a goroutine of its own and returns the failure and the (fake) time it took.
func eventually(within time.Duration, cond func() bool) (said string, took time.Duration) {
	f, start, done := &failing{}, time.Now(), make(chan struct{})
	go func() {
		defer close(done)
		Eventually(f, within, cond, "%s comes", "spring")
	}()
	<-done
	return f.said, time.Since(start)
}

func TestEventually(t *testing.T) {
	t.Run("true at once costs no time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			if said, took := eventually(0, func() bool { return true }); said != "" || took != 0 {
				t.Errorf("said %q after %v", said, took)
			}
		})
	})
	t.Run("true in between is noticed within 50 ms", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			at := time.Now().Add(777 * time.Millisecond)
			said, took := eventually(time.Hour, func() bool { return !time.Now().Before(at) })
			if said != "" || took < 777*time.Millisecond || took > 827*time.Millisecond {
				t.Errorf("said %q after %v", said, took)
			}
		})
	})
	t.Run("true only when the time is up still counts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			at := time.Now().Add(time.Second)
			if said, _ := eventually(time.Second, func() bool { return !time.Now().Before(at) }); said != "" {
				t.Errorf("said %q", said)
			}
		})
	})
	t.Run("never fails in time and says what", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			said, took := eventually(time.Second, func() bool { return false })
			if took != time.Second || !strings.Contains(said, "spring comes") || !strings.Contains(said, "1s") {
				t.Errorf("said %q after %v", said, took)
			}
		})
	})
}

func TestPrefix(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range []string{"plain", "plain", "dots. * > and spaces/ünï©ödé", strings.Repeat("long", 100)} {
		t.Run(name, func(t *testing.T) {
			p := Prefix(t)
			if seen[p] {
				t.Errorf("%q was given out before", p)
			}
			seen[p] = true
			if len(p) > 60 || strings.Trim(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
				t.Errorf("%q is long or needs escaping", p)
			}
		})
	}
}
