package journal

import (
	"context"
	"errors"
	"slices"
	"sync"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Committer stores changes of runs (package store). What it returned from without an error survives any crash.
type Committer interface {
	// Commit stores a change if the lease still holds. It retries for a while during an outage of the database.
	Commit(ctx context.Context, lease store.Lease, change store.Change) error
}

// Publisher tells followers on all pods what was stored (package live). It does not wait for any of them.
type Publisher interface {
	Publish(ref store.Ref, events []*agentv1.Event)
}

// Writer writes the batches of one run, one after the other: each is numbered, stored, then published.
type Writer struct {
	// static
	committer Committer
	publisher Publisher

	mu    sync.Mutex  // held while a batch is stored and published
	lease store.Lease // guarded by mu
	seq   int64       // of the last event; guarded by mu
	index int         // of the last message; guarded by mu
	err   error       // why nothing can be written any more; guarded by mu
}

// NewWriter returns a Writer that [Writer.Open] makes ready.
func NewWriter(committer Committer, publisher Publisher) *Writer {
	return &Writer{committer: committer, publisher: publisher}
}

// Open goes on under a lease from where a state ends, also after an error.
func (w *Writer) Open(lease store.Lease, state *store.State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lease, w.seq, w.index, w.err = lease, state.LastSeq, state.LastIndex, nil
}

// Write stores a batch, publishes its events, empties it, and returns its messages with their numbers. The error is an
// [Error]. After one the run cannot go on here, and no other batch is stored: the pod that adopts the run finds it as it was
// before this batch. Only an interrupt that came too late (store.ErrCancelRequested) leaves the writer usable.
func (w *Writer) Write(ctx context.Context, b *Batch) ([]store.Message, error) {
	if b.Empty() {
		return nil, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return nil, w.err
	}
	change := b.Change
	b.Change = store.Change{}
	for i, e := range change.Events {
		e.Seq, e.SessionId = w.seq+int64(i)+1, string(w.lease.Session)
	}
	change.Messages = slices.Clone(change.Messages)
	for i := range change.Messages {
		change.Messages[i].Index = w.index + i + 1
	}
	if err := w.committer.Commit(ctx, w.lease, change); err != nil {
		failed := &Error{err}
		if !errors.Is(err, store.ErrCancelRequested) {
			w.err = failed
		}
		return nil, failed
	}
	w.seq += int64(len(change.Events))
	w.index += len(change.Messages)
	if len(change.Events) > 0 {
		w.publisher.Publish(w.lease.Ref, change.Events)
	}
	return change.Messages, nil
}

// Error says that the next step of a run could not be stored, or that what it needs from the store could not be read.
type Error struct {
	// Err is why.
	Err error
}

func (e *Error) Error() string { return "a step of the run cannot be stored: " + e.Err.Error() }

// Unwrap returns why.
func (e *Error) Unwrap() error { return e.Err }
