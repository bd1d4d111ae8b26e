package agent

import (
	"slices"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// maxCallID is the longest id of a call that is taken from a model.
const maxCallID = 128

// uniqueCallID returns the id that a model gave a call where no other call of the session has it, else one of our own.
// Models leave ids out, and some count from zero in every answer. Once the conversation was summarised not all ids are
// known any more; then a given id is made unique, so that a late decision about an old call fits no new one.
func (t *thread) uniqueCallID(given string, taken []string) string {
	if t.isTask() { // the user's conversation knows nothing of it
		return newCallID()
	}
	if len(given) > maxCallID || ids.Check("tool_call_id", given) != nil {
		return newCallID()
	}
	if slices.Contains(taken, given) {
		return newCallID()
	}
	for i := range t.messages {
		m := &t.messages[i]
		if m.Role == roleSystem {
			return given + named("-", 4)
		}
		for j := range m.Calls {
			if m.Calls[j].ID == given {
				return newCallID()
			}
		}
	}
	return given
}
