package presence

import (
	"context"
	"sync"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

var errStopped = errs.New(errs.Draining, "the pod is shutting down")

// batcher gathers requests while earlier ones are on their way.
type batcher[Q, A any] struct {
	// flush answers each request of a batch, in order; or fails them all.
	flush func(context.Context, []Q) ([]A, error)
	limit int
	queue chan *item[Q, A]

	stop    context.CancelFunc
	stopped <-chan struct{}
	work    sync.WaitGroup
}

type item[Q, A any] struct {
	request Q
	answer  A
	err     error
	done    chan struct{}
}

// start runs the given number of flushers until ctx ends.
func (b *batcher[Q, A]) start(flushers int) {
	var ctx context.Context
	ctx, b.stop = context.WithCancel(context.Background())
	b.stopped = ctx.Done()
	for range flushers {
		b.work.Go(func() { b.run(ctx) })
	}
}

func (b *batcher[Q, A]) close() {
	b.stop()
	b.work.Wait()
}

func (b *batcher[Q, A]) do(ctx context.Context, q Q) (A, error) {
	it := &item[Q, A]{request: q, done: make(chan struct{})}
	var zero A
	select {
	case b.queue <- it:
	case <-ctx.Done():
		return zero, ctx.Err()
	case <-b.stopped:
		return zero, errStopped
	}
	select {
	case <-it.done:
		return it.answer, it.err
	case <-ctx.Done():
		return zero, ctx.Err()
	case <-b.stopped:
		return zero, errStopped
	}
}

func (b *batcher[Q, A]) run(ctx context.Context) {
	for {
		select {
		case first := <-b.queue:
			b.send(ctx, b.gather(first))
		case <-ctx.Done():
			return
		}
	}
}

// gather takes what waits already, without waiting for more.
func (b *batcher[Q, A]) gather(first *item[Q, A]) []*item[Q, A] {
	batch := []*item[Q, A]{first}
	for len(batch) < b.limit {
		select {
		case it := <-b.queue:
			batch = append(batch, it)
		default:
			return batch
		}
	}
	return batch
}

func (b *batcher[Q, A]) send(ctx context.Context, batch []*item[Q, A]) {
	requests := make([]Q, len(batch))
	for i, it := range batch {
		requests[i] = it.request
	}
	answers, err := b.flush(ctx, requests)
	for i, it := range batch {
		if err != nil {
			it.err = err
		} else {
			it.answer = answers[i]
		}
		close(it.done)
	}
}
