package live

import (
	"sync"
	"time"
)

// look wakes a follower that has heard nothing for its patience. Its timer is not set anew for each event: when it goes off,
// it is set to the time that is left.
type look struct {
	follower *Follower
	timer    *time.Timer

	mu      sync.Mutex
	at      time.Time // when the follower is to look into the store; guarded by mu
	late    bool      // and nothing has come until then; guarded by mu
	stopped bool      // guarded by mu
}

func newLook(f *Follower) *look {
	l := &look{follower: f}
	l.mu.Lock() // the timer may go off at once
	defer l.mu.Unlock()
	d := f.patience()
	l.at = time.Now().Add(d)
	l.timer = time.AfterFunc(d, l.ring)
	return l
}

// postpone begins to wait anew: something has come, or the follower has looked.
func (l *look) postpone() {
	d := l.follower.patience()
	l.mu.Lock()
	defer l.mu.Unlock()
	sooner := d < time.Until(l.at)
	l.at = time.Now().Add(d)
	if sooner || l.late { // the timer is set to a later time, or has gone off
		l.timer.Reset(d)
	}
	l.late = false
}

func (l *look) ring() {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := time.Until(l.at)
	if l.stopped {
		return
	}
	if left > 0 {
		l.timer.Reset(left)
		return
	}
	l.late = true
	l.follower.notify()
}

// due reports whether it is time to look.
func (l *look) due() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.late
}

func (l *look) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	l.timer.Stop()
}
