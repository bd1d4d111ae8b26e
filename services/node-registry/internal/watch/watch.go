package watch

import (
	"context"
	"errors"
	"sync"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// backlogBytes bounds what waits for one watcher: some twenty thousand events, as when a gateway with that many nodes
// is lost.
const backlogBytes = 8 << 20

// ErrFellBehind ends a watch whose events are not taken fast enough.
var ErrFellBehind = errors.New("the watcher fell behind; list the nodes and watch again")

// Watch is one watcher's view of the events.
type Watch struct {
	// static after construction
	feed *Feed
	sub  *nats.Subscription

	mu     sync.Mutex
	queue  [][]byte      // guarded by mu
	queued int           // bytes of queue; guarded by mu
	err    error         // why it ended; guarded by mu
	wake   chan struct{} // has a token while the queue may have something new
	failed chan struct{} // closed when err is set
}

func newWatch(f *Feed) *Watch {
	return &Watch{feed: f, wake: make(chan struct{}, 1), failed: make(chan struct{})}
}

// Next returns the next event. It fails when the watch or ctx ends; what still waits then is dropped.
func (w *Watch) Next(ctx context.Context) (*nodev1.NodeEvent, error) {
	for {
		data, err := w.pop()
		if err != nil {
			return nil, err
		}
		if data != nil {
			event := &nodev1.NodeEvent{}
			if err := proto.Unmarshal(data, event); err != nil {
				w.feed.log.WarnContext(ctx, "node event not understood", "error", err)
				continue
			}
			return event, nil
		}
		select {
		case <-w.wake:
		case <-w.failed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Failed is closed when the watch has ended; Err then says why.
func (w *Watch) Failed() <-chan struct{} { return w.failed }

// Err returns why the watch ended; nil while it has not.
func (w *Watch) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Close ends the watch.
func (w *Watch) Close() {
	if w.sub != nil {
		_ = w.sub.Unsubscribe() // fails where the connection is closed, which ends it too
	}
	w.feed.remove(w)
	w.fail(context.Canceled)
}

func (w *Watch) pop() ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || len(w.queue) == 0 {
		return nil, w.err
	}
	data := w.queue[0]
	w.queue[0] = nil
	w.queue = w.queue[1:]
	w.queued -= len(data)
	return data, nil
}

func (w *Watch) push(data []byte) {
	w.mu.Lock()
	full := w.queued+len(data) > backlogBytes
	if w.err == nil && !full {
		w.queue = append(w.queue, data)
		w.queued += len(data)
	}
	w.mu.Unlock()
	if full {
		w.fail(ErrFellBehind)
		return
	}
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *Watch) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
		w.queue = nil
		close(w.failed)
	}
}
