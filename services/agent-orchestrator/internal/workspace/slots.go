package workspace

import (
	"context"
	"sync"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// turns let at most a number of each user's doings go on at one time; the others of that user wait, and nobody else does.
type turns struct {
	most int // static after construction

	mu    sync.Mutex
	users map[ids.UserID]*queue // of those who do something
}

type queue struct {
	places chan struct{}
	who    int // waits or does; guarded by turns.mu
}

func newTurns(most int) *turns { return &turns{most: most, users: map[ids.UserID]*queue{}} }

// take waits for a turn, until ctx ends; done gives it back.
func (t *turns) take(ctx context.Context, user ids.UserID) (done func(), err error) {
	t.mu.Lock()
	q := t.users[user]
	if q == nil {
		q = &queue{places: make(chan struct{}, t.most)}
		t.users[user] = q
	}
	q.who++
	t.mu.Unlock()
	select {
	case q.places <- struct{}{}:
		return func() {
			<-q.places
			t.left(user, q)
		}, nil
	case <-ctx.Done():
		t.left(user, q)
		return nil, ctx.Err()
	}
}

func (t *turns) left(user ids.UserID, q *queue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if q.who--; q.who == 0 {
		delete(t.users, user)
	}
}
