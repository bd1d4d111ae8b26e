package drain_test

import (
	"testing"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/drain"
)

func TestStreams(t *testing.T) {
	t.Parallel()
	var s drain.Streams
	open := func(endsRun bool) (told func() bool, left func()) {
		leave, left := s.Enter(endsRun)
		return func() bool {
			select {
			case <-leave:
				return true
			default:
				return false
			}
		}, left
	}
	early, earlyLeft := open(false)
	endsRun, endsRunLeft := open(true)
	s.Begin()
	late, lateLeft := open(false)
	lateEndsRun, lateEndsRunLeft := open(true)
	if n := len(s.Connections()); n != 2 {
		t.Fatalf("a drain finds %d streams", n)
	}
	for _, c := range s.Connections() {
		select {
		case <-c.Retire():
			c.Leave()
			c.Leave() // which is harmless
		default: // the one that ends its run, which has not ended
		}
	}
	if !early() || endsRun() || late() || lateEndsRun() {
		t.Errorf("told by the drain: %v %v %v %v", early(), endsRun(), late(), lateEndsRun())
	}
	earlyLeft()
	left := s.Connections()
	if len(left) != 1 {
		t.Fatalf("%d streams are left", len(left))
	}
	endsRunLeft()
	endsRunLeft() // which is harmless
	<-left[0].Retire()
	if n := len(s.Connections()); n != 0 {
		t.Errorf("%d streams are left", n)
	}
	s.Close()
	after, afterLeft := open(false)
	if !late() || lateEndsRun() || !after() {
		t.Errorf("told when the pod closes: %v %v %v", late(), lateEndsRun(), after())
	}
	s.Cut()
	s.Begin() // which goes nowhere
	last, lastLeft := open(true)
	if !lateEndsRun() || !last() {
		t.Errorf("told at the end: %v %v", lateEndsRun(), last())
	}
	for _, left := range []func(){lateLeft, lateEndsRunLeft, afterLeft, lastLeft} {
		left()
	}
}
