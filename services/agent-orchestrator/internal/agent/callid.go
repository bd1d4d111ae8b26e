package agent

import (
	"slices"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// maxCallID is the most bytes of a call's id that is taken from a model.
const maxCallID = 128

// uniqueCallID returns the id that a model gave a call if no other call of the session has it, else one of our own. Models
// leave ids out, and some count from zero in every answer. Once the conversation was summarised not all ids are known any
// more; then the given id is made unique, so that a late decision about an old call does not fit a new one. taken are the ids
// of the same answer's calls.
func (c *conversation) uniqueCallID(given string, taken []string) string {
	if c.isSubAgent() { // the ids of the user's conversation are not known here
		return newCallID()
	}
	if len(given) > maxCallID || ids.Check("tool_call_id", given) != nil {
		return newCallID()
	}
	if slices.Contains(taken, given) {
		return newCallID()
	}
	for i := range c.messages {
		m := &c.messages[i]
		if m.Role == store.RoleSystem {
			return given + randomID("-", 4)
		}
		for j := range m.Calls {
			if m.Calls[j].ID == given {
				return newCallID()
			}
		}
	}
	return given
}
