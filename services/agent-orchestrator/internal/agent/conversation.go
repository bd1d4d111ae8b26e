package agent

import (
	"context"
	"slices"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/catalogue"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/journal"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/skill"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// conversation is one conversation with the model and the calls of its last answer: that of the user, or that of a
// sub-agent. Both go through the same turns and executors; the user's also streams, and can change its tools.
//
// One goroutine at a time owns a conversation: the run's, or that of the call which its sub-agent carries out. While an
// answer streams, the stream's goroutine owns the batch.
type conversation struct {
	env    *environment // static
	parent string       // the call that the sub-agent carries out, "" for the user's; static
	batch  journal.Batch
	// asking and working are those of the run; those of a sub-agent also end with the time of its call.
	asking, working context.Context

	tools     *catalogue.Catalogue
	toolset   *toolset                 // where the tools come from; nil for a sub-agent's, whose tools do not change
	subAgents map[string]*conversation // at work, by their calls; nil for a sub-agent's

	head *headStart // of the first question of a run that begins here; nil otherwise, and after it

	messages []store.Message // those that are still in the batch have no number yet
	calls    []store.Call    // of the last answer
	steps    int             // answers of the model
	text     string          // of the last answer
	broken   broken          // the answer that the next one continues, or replaces
	measured measured
}

func newConversation(env *environment, parent string, tools *catalogue.Catalogue) *conversation {
	return &conversation{
		env: env, parent: parent, batch: journal.NewBatch(env.lease.Run, parent), asking: env.asking, working: env.working, tools: tools,
	}
}

// isSubAgent reports whether the conversation is a sub-agent's.
func (c *conversation) isSubAgent() bool { return c.parent != "" }

// traced returns ctx in the span of the run's step. A sub-agent's context is in the span of its call already.
func (c *conversation) traced(ctx context.Context) context.Context {
	if c.isSubAgent() {
		return ctx
	}
	return c.env.trace.inStep(ctx)
}

// flush writes the batch. The error is a *journal.Error.
func (c *conversation) flush() error {
	written, err := c.env.writer.Write(c.env.leased, &c.batch)
	written = slices.DeleteFunc(written, func(m store.Message) bool { return m.Parent != c.parent })
	for i, m := range written {
		c.messages[len(c.messages)-len(written)+i].Index = m.Index
	}
	return err
}

// addMessage adds a message to the batch, and to what the model is told next.
func (c *conversation) addMessage(m store.Message) {
	c.messages = append(c.messages, c.batch.AddMessage(m))
}

// endCall notes how a call ended: for the model, for clients, and for a pod that adopts the run.
func (c *conversation) endCall(call *store.Call, out outcome) {
	result := presenter{c.env}.present(call.ID, call.Tool, out)
	call.State = store.Ended
	if call.Args == nil {
		call.Args = []byte("{}") // what the model wrote is no object; its message has it
	}
	c.batch.SetCall(*call)
	c.addMessage(store.Message{Role: store.RoleTool, Content: result.GetResult(), CallID: call.ID, Tool: call.Tool})
	if !c.isSubAgent() && c.env.todos != nil { // sub-agents have no list
		if list := c.env.todos.Take(); list != nil {
			c.batch.Change.Todos = list
		}
	}
	if c.env.names != nil {
		if names := c.env.names.Changed(); names != nil {
			c.batch.Change.ToolNames = names
		}
	}
	c.batch.AddEvent(journal.ResultEvent(result))
	if out.result.Skill != "" {
		c.batch.AddEvent(journal.SkillEvent(out.result.Skill, skill.Loaded))
	}
}

// closeCalls answers the calls that will not run any more, so that the conversation can go on without them.
func (c *conversation) closeCalls(why string) {
	for i := range c.calls {
		switch call := &c.calls[i]; {
		case call.State == store.Ended:
		case call.State == store.Started && c.subAgents[call.ID] != nil:
			c.endCall(call, failed(&tool.Failure{
				Outcome: tool.Cancelled, Message: call.Tool + " was stopped before its end: " + why + ". What it had done until then stands",
			}))
		case call.State == store.Started:
			c.endCall(call, failed(unknownAfterCrash))
		default:
			c.endCall(call, failed(&tool.Failure{Outcome: tool.Cancelled, Message: call.Tool + " was not run: " + why}))
		}
	}
}

func isOpen(c *store.Call) bool { return c.State != store.Ended }

func isWaiting(c *store.Call) bool { return c.State == store.Waiting }

func anyCall(calls []store.Call, is func(*store.Call) bool) bool {
	for i := range calls {
		if is(&calls[i]) {
			return true
		}
	}
	return false
}
