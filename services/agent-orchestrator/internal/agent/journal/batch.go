package journal

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Batch collects what has happened in one conversation and is not written yet. One goroutine at a time owns it.
type Batch struct {
	run    string
	parent string // the call that the conversation's sub-agent carries out; "" in the user's conversation
	// Change is what the batch holds.
	Change store.Change
}

// NewBatch returns an empty batch of a run's conversation: that of the sub-agent that carries out the call parent, or that
// of the user, where parent is "".
func NewBatch(run, parent string) Batch { return Batch{run: run, parent: parent} }

// AddEvent adds an event, and sets whose it is and when it happened.
func (b *Batch) AddEvent(e *agentv1.Event) {
	e.RunId, e.ParentToolCallId, e.At = b.run, b.parent, timestamppb.Now()
	b.Change.Events = append(b.Change.Events, e)
}

// AddMessage adds a message, and returns it with whose it is and when it was said.
func (b *Batch) AddMessage(m store.Message) store.Message {
	m.Run, m.Parent, m.At = b.run, b.parent, time.Now()
	b.Change.Messages = append(b.Change.Messages, m)
	return m
}

// SetCall adds the new state of a call. A later one of the same call replaces it.
func (b *Batch) SetCall(c store.Call) {
	c.Parent = b.parent
	for i := range b.Change.Calls {
		if b.Change.Calls[i].ID == c.ID {
			b.Change.Calls[i] = c
			return
		}
	}
	b.Change.Calls = append(b.Change.Calls, c)
}

// Empty reports whether there is nothing to write.
func (b *Batch) Empty() bool {
	c := &b.Change
	return len(c.Messages) == 0 && len(c.Calls) == 0 && len(c.Events) == 0 && c.Steps == nil && c.Streaming == nil &&
		c.Todos == nil && c.ToolNames == nil && c.Skills == nil && c.End == nil
}
