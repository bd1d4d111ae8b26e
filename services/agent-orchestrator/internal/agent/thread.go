package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// thread is one conversation with the model, and the calls that it leads to: that with the user, or that of a sub-agent. Both
// are the same loop over the same state (step, plan, calls); the conversation with the user also streams, and ends the run.
//
// One goroutine at a time owns a thread: the run's, or that of the call which its sub-agent does.
type thread struct {
	*run
	page
	// ask and work are the run's; those of a sub-agent end with its call's time, too.
	ask, work context.Context
	kit       *kit
	messages  []store.Message // those of the page have no number yet
	calls     []store.Call    // of the last answer
	steps     int
	broken    broken // the answer that the next one goes on with, or takes the place of
	text      string // of the last answer
	measured  measured
}

// isTask reports whether the thread is a sub-agent's.
func (t *thread) isTask() bool { return t.parent != "" }

// flush keeps the thread's page.
func (t *thread) flush(ctx context.Context) error {
	kept, err := t.ledger.flush(ctx, &t.page)
	kept = slices.DeleteFunc(kept, func(m store.Message) bool { return m.Parent != t.parent })
	for i, m := range kept {
		t.messages[len(t.messages)-len(kept)+i].Index = m.Index
	}
	return err
}

// remember adds a message to the page and to what the model is told next.
func (t *thread) remember(m store.Message) {
	t.messages = append(t.messages, t.add(m))
}

// system is the system prompt.
func (t *thread) system() string {
	if t.isTask() {
		return t.taskPrompt()
	}
	return t.systemPrompt(time.Now())
}

// closeCalls answers the calls that will not run any more, so that the conversation can go on without them.
func (t *thread) closeCalls(why string) {
	for i := range t.calls {
		switch c := &t.calls[i]; {
		case c.State == store.Ended:
		case c.State == store.Started && t.tasks[c.ID] != nil:
			t.endCall(c, unanswered(&tool.Failure{
				Outcome: tool.Cancelled, Message: c.Tool + " was stopped before its end: " + why + ". What it had done until then stands",
			}))
		case c.State == store.Started:
			t.endCall(c, unanswered(unknownAfterCrash))
		default:
			t.endCall(c, unanswered(&tool.Failure{Outcome: tool.Cancelled, Message: c.Tool + " was not run: " + why}))
		}
	}
}

// does reports whether a call is one that a sub-agent does.
func (t *thread) does(c *store.Call) bool {
	of := t.kit.toolOf(c)
	return of != nil && of.Spec().Category == tool.SubAgent
}

func isOpen(c *store.Call) bool { return c.State != store.Ended }

func waits(c *store.Call) bool { return c.State == store.Waiting }

func anyCall(calls []store.Call, is func(*store.Call) bool) bool {
	for i := range calls {
		if is(&calls[i]) {
			return true
		}
	}
	return false
}

// fails reports whether an error is the model's: the conversation cannot go on, and what was said in it stands.
func fails(err error) bool {
	var failed *llm.Error
	return errors.As(err, &failed)
}
