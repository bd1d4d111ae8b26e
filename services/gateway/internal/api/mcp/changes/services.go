package changes

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
)

// Watch follows what a user's saved services have, until ctx ends or who tells of it does. It tells of no change when it has begun.
type Watch func(ctx context.Context, user ids.UserID, each func(tools, prompts bool)) error

// Services tells of changes of what users' saved services have. A user's services are watched while somebody listens. It is safe for
// concurrent use.
type Services struct {
	// Static after construction.
	watch Watch
	work  sync.WaitGroup

	mu     sync.Mutex
	users  map[ids.UserID]*watched
	closed bool
}

// watched is a user whose services are watched; guarded by the Services' mu.
type watched struct {
	stop      context.CancelFunc
	listeners map[*Listener]bool
}

// Listener hears of changes.
type Listener struct {
	// Tools and Prompts have something in them after a change.
	Tools, Prompts chan struct{}
}

const (
	// leastPause and longestPause are how long a watch that broke is not begun anew.
	leastPause, longestPause = 100 * time.Millisecond, 30 * time.Second
)

// NewServices returns Services, which Close ends.
func NewServices(w Watch) *Services { return &Services{watch: w, users: map[ids.UserID]*watched{}} }

// Close ends all watches.
func (s *Services) Close() {
	s.mu.Lock()
	s.closed = true
	for _, w := range s.users {
		w.stop()
	}
	s.mu.Unlock()
	s.work.Wait()
}

// Listen returns what hears of changes from now on, until leave is called.
func (s *Services) Listen(user ids.UserID) (l *Listener, leave func()) {
	l = &Listener{make(chan struct{}, 1), make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.users[user]
	if w == nil {
		ctx, stop := context.WithCancel(context.Background())
		w = &watched{stop, map[*Listener]bool{}}
		s.users[user] = w
		if s.closed {
			stop()
		} else {
			s.work.Go(func() { s.follow(ctx, user, w) })
		}
	}
	w.listeners[l] = true
	return l, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if delete(w.listeners, l); len(w.listeners) == 0 && s.users[user] == w {
			delete(s.users, user)
			w.stop()
		}
	}
}

// follow watches until ctx ends. What happens between two watches is not heard, so after the first one everything counts as changed.
func (s *Services) follow(ctx context.Context, user ids.UserID, w *watched) {
	again := false
	each := func(tools, prompts bool) {
		began := !tools && !prompts
		s.tell(w, tools || began && again, prompts || began && again)
		again = true
	}
	pause := leastPause
	for {
		begun := time.Now()
		_ = s.watch(ctx, user, each) // whatever the reason: another orchestrator is asked
		if time.Since(begun) > longestPause {
			pause = leastPause
		}
		if !sleep.For(ctx, pause/2+rand.N(pause)) {
			return
		}
		pause = min(2*pause, longestPause)
	}
}

func (s *Services) tell(w *watched, tools, prompts bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range w.listeners {
		if tools {
			put(l.Tools)
		}
		if prompts {
			put(l.Prompts)
		}
	}
}

func put(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default: // it has not looked yet
	}
}
