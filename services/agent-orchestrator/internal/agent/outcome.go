package agent

import "github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"

// outcome is how a call ended: with a result, or with a failure.
type outcome struct {
	result     tool.Result
	failure    *tool.Failure // nil if the tool answered
	unfinished error         // why a sub-agent stops and goes on later; then the call has not ended
	moved      bool          // not delivered, because what was approved is not there any more as it was shown
}

func failed(f *tool.Failure) outcome { return outcome{failure: f} }

// The names of outcomes of calls that the tool answered.
const (
	callAnswered = "answered"
	callError    = "error"
)

// name is the outcome in one word, for metrics and traces.
func (o outcome) name() string {
	switch {
	case o.failure != nil:
		return o.failure.Outcome
	case o.result.IsError:
		return callError
	}
	return callAnswered
}
