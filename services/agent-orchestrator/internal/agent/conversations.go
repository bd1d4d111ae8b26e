package agent

import (
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/catalogue"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// conversations are those of a run: the user's, and those of the sub-agents that are at work. The run's goroutine owns them,
// and does not touch the sub-agents' while a call runs.
type conversations struct {
	main *conversation
}

// load makes the conversations of a state.
func (c *conversations) load(env *environment, tools *toolset, state *store.State) {
	main := newConversation(env, "", tools.catalogue)
	main.toolset = tools
	main.messages, main.calls, main.steps = state.Messages, state.Calls, state.Run.Steps
	main.broken = broken{id: state.Run.Streaming}
	main.text = lastText(state.Messages, env.lease.Run)
	main.subAgents = make(map[string]*conversation, len(state.Tasks))
	for i := range state.Tasks {
		task := &state.Tasks[i]
		main.subAgents[task.Call] = main.newSubAgent(task.Call, task.Messages, task.Calls)
	}
	c.main = main
}

// setTools gives the conversations the tools that have been gathered.
func (c *conversations) setTools(tools *catalogue.Catalogue) {
	c.main.tools = tools
	for _, sub := range c.main.subAgents {
		sub.tools = tools.ForSubAgent()
	}
}

// all returns the sub-agents' conversations in the order of their calls, and then the user's.
func (c *conversations) all() []*conversation {
	all := make([]*conversation, 0, len(c.main.subAgents)+1)
	for i := range c.main.calls {
		if sub := c.main.subAgents[c.main.calls[i].ID]; sub != nil {
			all = append(all, sub)
		}
	}
	return append(all, c.main)
}

// waiting returns the calls that wait for a decision.
func (c *conversations) waiting() []proposed {
	var waiting []proposed
	for _, conv := range c.all() {
		for i := range conv.calls {
			if call := &conv.calls[i]; isWaiting(call) {
				waiting = append(waiting, proposed{conv, call})
			}
		}
	}
	return waiting
}

// flush writes the batches of all conversations.
func (c *conversations) flush() error {
	for _, conv := range c.all() {
		if err := conv.flush(); err != nil {
			return err
		}
	}
	return nil
}

// closeCalls answers all calls that will not run any more.
func (c *conversations) closeCalls(why string) {
	for _, conv := range c.all() {
		conv.closeCalls(why)
	}
}
