package drain_test

import (
	"testing"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/drain"
)

func TestStreams(t *testing.T) {
	t.Parallel()
	var s drain.Streams
	open := func(mortal bool) (told func() bool, left func()) {
		leave, left := s.Enter(mortal)
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
	mortal, mortalLeft := open(true)
	s.Begin()
	late, lateLeft := open(false)
	lateMortal, lateMortalLeft := open(true)
	if n := len(s.Connections()); n != 2 {
		t.Fatalf("a drain finds %d streams", n)
	}
	for _, c := range s.Connections() {
		select {
		case <-c.Retire():
			c.Leave()
			c.Leave() // which is harmless
		default: // the mortal one, which has not ended
		}
	}
	if !early() || mortal() || late() || lateMortal() {
		t.Errorf("told by the drain: %v %v %v %v", early(), mortal(), late(), lateMortal())
	}
	earlyLeft()
	left := s.Connections()
	if len(left) != 1 {
		t.Fatalf("%d streams are left", len(left))
	}
	mortalLeft()
	mortalLeft() // which is harmless
	<-left[0].Retire()
	if n := len(s.Connections()); n != 0 {
		t.Errorf("%d streams are left", n)
	}
	s.Close()
	after, afterLeft := open(false)
	if !late() || lateMortal() || !after() {
		t.Errorf("told when the pod closes: %v %v %v", late(), lateMortal(), after())
	}
	s.Cut()
	s.Begin() // which goes nowhere
	last, lastLeft := open(true)
	if !lateMortal() || !last() {
		t.Errorf("told at the end: %v %v", lateMortal(), last())
	}
	for _, left := range []func(){lateLeft, lateMortalLeft, afterLeft, lastLeft} {
		left()
	}
}
