package holder

import (
	"context"
	"time"
)

const (
	// probeEvery is how often a pod says that it is there, and looks whether the bus answers.
	probeEvery = time.Second
	// stale is how long ago a pod must have spoken to the bus, and been answered, to take calls. A pod that was stopped, or cut off,
	// first reads what had come for it before: nobody waits for those calls any more, and who sent them may have been told that
	// nobody has seen them, since this pod was counted as gone (package witness, whose memory is longer).
	stale = 5 * time.Second
)

// barrier comes to the dispatcher after an answer of the bus: what was sent to this pod before that has been dispatched then.
type barrier struct {
	asked time.Time     // when the bus was asked
	done  chan struct{} // closed by the dispatcher
}

// fresh is when the bus was asked last, of what it has answered. It belongs to the dispatcher.
type fresh struct{ asked time.Time }

func (f *fresh) answered(asked time.Time) {
	if asked.After(f.asked) {
		f.asked = asked
	}
}

// stale reports whether a call that is read now may have been waiting for a long time.
func (f *fresh) stale(now time.Time) bool { return now.Sub(f.asked) > stale }

func (h *Holder) keepFresh() {
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			h.probe()
		case <-h.life.Done():
			return
		}
	}
}

// probe says that this pod is there, and notes that the bus has heard it.
func (h *Holder) probe() {
	ctx, cancel := context.WithTimeout(h.life, stale)
	defer cancel()
	if h.Witness.Announce() == nil {
		h.roundTrip(ctx)
	}
}

// roundTrip returns once everything that was sent to this pod before has arrived and has been dispatched, or ctx ends.
func (h *Holder) roundTrip(ctx context.Context) {
	asked := time.Now()
	if h.Bus.FlushWithContext(ctx) != nil {
		return
	}
	b := barrier{asked, make(chan struct{})}
	select {
	case h.barrier <- b:
		<-b.done
	case <-ctx.Done():
	}
}
