package agent

import (
	"errors"
	"fmt"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/catalogue"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// maxCalls is how many calls of one answer run.
const maxCalls = 32

// checkCall says why a call cannot be sent; nil if it can. t is nil if no tool has its name.
func checkCall(tools *catalogue.Catalogue, c *store.Call, t tool.Tool) *tool.Failure {
	invalid := func(format string, args ...any) *tool.Failure {
		return &tool.Failure{Outcome: tool.Invalid, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case c.Position >= maxCalls:
		return invalid("at most %d calls of one answer run; call it again", maxCalls)
	case t == nil && tools.Unlisted != nil:
		return tools.Unlisted
	case t == nil:
		return invalid("there is no tool with this name")
	case c.Args == nil:
		return invalid("the arguments must be one JSON object")
	}
	var failure *tool.Failure
	if err := tool.CheckArguments(t.Spec(), c.Args); errors.As(err, &failure) {
		return failure
	}
	return nil
}

// isToolOf reports whether a tool is the one for which a call was checked and decided: when servers and nodes come and go,
// another tool may get the same name.
func isToolOf(c *store.Call, t tool.Tool) bool {
	if _, placed := t.(tool.Placed); placed {
		return c.Node != "" // the tool itself knows whether it is that node's
	}
	return c.Node == "" && c.NodeMark == sourceMark(t.Spec())
}

// sourceMark is the mark of a tool that runs on no node: its source.
func sourceMark(s tool.Spec) string { return string(s.Layer) + "|" + s.Server }
