package desktop

import (
	"context"
	"fmt"

	"github.com/hecaton-dev/hecaton/pkg/node"
)

// Confirm says which calls a person at the node has to allow, in addition to what the agent's user allows.
type Confirm string

// The choices, each with those before it.
const (
	ConfirmNone     Confirm = "none"     // also ""
	ConfirmCommands Confirm = "commands" // run_command
	ConfirmWrites   Confirm = "writes"   // whatever changes something
	ConfirmAll      Confirm = "all"
)

// least is the mildest effect that each choice asks about.
var least = map[Confirm]effect{"": runs + 1, ConfirmNone: runs + 1, ConfirmCommands: runs, ConfirmWrites: writes, ConfirmAll: reads}

func (c Confirm) check() error {
	if _, known := least[c]; !known {
		return fmt.Errorf("what to confirm is %q, must be %s, %s, %s or %s", string(c), ConfirmNone, ConfirmCommands, ConfirmWrites, ConfirmAll)
	}
	return nil
}

// confirmed returns a tool's handler that asks first if it has to. A refusal is a result of the tool, which the agent
// reads.
func (t *Tools) confirmed(tool tool, handle node.Handler) node.Handler {
	if tool.effect < least[t.confirm] {
		return handle
	}
	return func(ctx context.Context, call node.Call) (node.Result, error) {
		if t.ask == nil {
			return node.Errorf("%s was not run: nobody is at the node who could allow it", tool.name), nil
		}
		err := t.ask(ctx, tool.name, call.Arguments)
		switch {
		case ctx.Err() != nil: // also where the answer came at that moment: nobody waits for the call any more
			return node.Result{}, ctx.Err()
		case err != nil:
			return node.Errorf("%s was not run: %v", tool.name, err), nil
		}
		return handle(ctx, call)
	}
}
