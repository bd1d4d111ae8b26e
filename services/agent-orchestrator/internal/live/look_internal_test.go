package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

// A follower looks once it has heard nothing for its patience, counted from the last event, and again after that.
func TestLookAfterSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &Follower{hub: &Hub{draining: t.Context()}, wake: make(chan struct{}, 1)}
		l := newLook(f)
		began := time.Now()
		for range 100 { // events, one every 50 ms
			testkit.Advance(50 * time.Millisecond)
			if l.due() {
				t.Fatalf("it looks %v after the beginning, between events", time.Since(began))
			}
			l.postpone()
		}
		for range 3 {
			last := time.Now()
			<-f.wake
			if !l.due() || time.Since(last) != heal {
				t.Errorf("it was woken after %v, due: %v, want after %v", time.Since(last), l.due(), heal)
			}
			l.postpone()
		}
		l.stop()
		testkit.Advance(10 * heal)
		select {
		case <-f.wake:
			t.Error("it looks after its end")
		default:
		}
	})
}
