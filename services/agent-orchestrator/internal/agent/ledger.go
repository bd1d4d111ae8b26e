package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// page collects a change of one conversation.
type page struct {
	runID  string
	parent string // the call that the conversation's sub-agent does; "" for the user's conversation
	change store.Change
}

// say adds an event.
func (p *page) say(e *agentv1.Event) {
	e.RunId, e.ParentToolCallId, e.At = p.runID, p.parent, timestamppb.Now()
	p.change.Events = append(p.change.Events, e)
}

// add adds a message.
func (p *page) add(m store.Message) store.Message {
	m.Run, m.Parent, m.At = p.runID, p.parent, time.Now()
	p.change.Messages = append(p.change.Messages, m)
	return m
}

// set adds what became of a call, once per change.
func (p *page) set(c store.Call) {
	c.Parent = p.parent
	for i := range p.change.Calls {
		if p.change.Calls[i].ID == c.ID {
			p.change.Calls[i] = c
			return
		}
	}
	p.change.Calls = append(p.change.Calls, c)
}

func (p *page) empty() bool {
	c := &p.change
	return len(c.Messages) == 0 && len(c.Calls) == 0 && len(c.Events) == 0 && c.Steps == nil && c.Streaming == nil &&
		c.Todos == nil && c.Lexicon == nil && c.End == nil
}

// ledger writes the pages of one run, in the order in which they come: each is numbered, kept, then published. Several
// goroutines may use it; a page belongs to one at a time.
type ledger struct {
	// static once the run has begun
	lease     store.Lease
	journal   Journal
	publisher Publisher

	mu    sync.Mutex // held while a page is kept
	seq   int64      // of the last event; guarded by mu
	index int        // of the last message; guarded by mu
	err   error      // why no page can be kept any more; guarded by mu
}

// open goes on where a state ends.
func (l *ledger) open(state *store.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq, l.index, l.err = state.LastSeq, state.LastIndex, nil
}

// flush keeps a page, publishes its events and returns its messages with their numbers. Where it fails the run cannot go on
// here, and no other page is kept: whoever adopts it finds it as it was before the page. Only an interrupt that came too
// late (store.ErrCancelRequested) leaves all as it was.
func (l *ledger) flush(ctx context.Context, p *page) ([]store.Message, error) {
	if p.empty() {
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil, l.err
	}
	change := p.change
	p.change = store.Change{}
	for i, e := range change.Events {
		e.Seq, e.SessionId = l.seq+int64(i)+1, string(l.lease.Session)
	}
	change.Messages = slices.Clone(change.Messages)
	for i := range change.Messages {
		change.Messages[i].Index = l.index + i + 1
	}
	if err := l.journal.Commit(ctx, l.lease, change); err != nil {
		failed := &keepError{err}
		if !errors.Is(err, store.ErrCancelRequested) {
			l.err = failed
		}
		return nil, failed
	}
	l.seq += int64(len(change.Events))
	l.index += len(change.Messages)
	if len(change.Events) > 0 {
		l.publisher.Publish(l.lease.Ref, change.Events)
	}
	return change.Messages, nil
}

// keepError is a page that could not be kept, or not be made.
type keepError struct{ err error }

func (e *keepError) Error() string { return "keep a step: " + e.err.Error() }
func (e *keepError) Unwrap() error { return e.err }
