package agent

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// page collects a change and numbers what is in it.
type page struct {
	session, run string
	seq          int64 // of the last event
	index        int   // of the last message
	change       store.Change
}

// pageAfter is an empty page that follows what state has.
func pageAfter(state *store.State, run string) page {
	p := page{session: string(state.Ref.Session), run: run, seq: state.LastSeq}
	for i := range state.Messages {
		p.index = max(p.index, state.Messages[i].Index)
	}
	return p
}

// say adds an event.
func (p *page) say(e *agentv1.Event) {
	p.seq++
	e.Seq, e.SessionId, e.RunId, e.At = p.seq, p.session, p.run, timestamppb.Now()
	p.change.Events = append(p.change.Events, e)
}

// add numbers a message and adds it.
func (p *page) add(m store.Message) store.Message {
	p.index++
	m.Index, m.At = p.index, time.Now()
	if m.Run == "" {
		m.Run = p.run
	}
	p.change.Messages = append(p.change.Messages, m)
	return m
}

// set adds what became of a call, once per change.
func (p *page) set(c store.Call) {
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

// ledger writes the pages of one run: each is kept, then published. It belongs to one goroutine at a time: the run's, or
// while an answer streams, that of the stream.
type ledger struct {
	page
	lease     store.Lease
	journal   Journal
	publisher Publisher
}

// flush keeps the page and publishes its events. Where it fails the run cannot go on here: whoever adopts it finds it as
// it was before the page.
func (l *ledger) flush(ctx context.Context) error {
	if l.empty() {
		return nil
	}
	change := l.change
	l.change = store.Change{}
	if err := l.journal.Commit(ctx, l.lease, change); err != nil {
		return &keepError{err}
	}
	if len(change.Events) > 0 {
		l.publisher.Publish(l.lease.Ref, change.Events)
	}
	return nil
}

// keepError is a page that could not be kept, or not be made.
type keepError struct{ err error }

func (e *keepError) Error() string { return "keep a step: " + e.err.Error() }
func (e *keepError) Unwrap() error { return e.err }
