package workspace

import (
	"context"
	"sync"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// userSlots bounds how many operations of one user go on at the same time. The user's next ones wait; other users do not.
type userSlots struct {
	most int // static after construction

	mu    sync.Mutex
	users map[ids.UserID]*queue // of users with operations
}

type queue struct {
	places chan struct{}
	users  int // operations that wait or go on; guarded by userSlots.mu
}

func newUserSlots(most int) *userSlots { return &userSlots{most: most, users: map[ids.UserID]*queue{}} }

// take waits for a slot, until ctx ends; done gives it back.
func (t *userSlots) take(ctx context.Context, user ids.UserID) (done func(), err error) {
	t.mu.Lock()
	q := t.users[user]
	if q == nil {
		q = &queue{places: make(chan struct{}, t.most)}
		t.users[user] = q
	}
	q.users++
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

func (t *userSlots) left(user ids.UserID, q *queue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if q.users--; q.users == 0 {
		delete(t.users, user)
	}
}
