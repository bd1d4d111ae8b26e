package agent

import (
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// proposed is a call, and the conversation in which a model asked for it.
type proposed struct {
	conv *conversation
	call *store.Call
}

// review is what the gate has found about calls: those of one answer, or all that wait. Its lists are by the calls' positions.
type review struct {
	calls []proposed
	// asks are the calls that a person has to decide about, and decisions why.
	asks      []bool
	decisions []approval.Decision
	// unplaced are those for which somebody has to choose one of nodes.
	unplaced []bool
	nodes    []*nodev1.Node
	// failed says why calls cannot run; nil for those that can.
	failed []*tool.Failure
}

func newReview(calls []proposed) review {
	return review{
		calls: calls, asks: make([]bool, len(calls)), decisions: make([]approval.Decision, len(calls)),
		unplaced: make([]bool, len(calls)), failed: make([]*tool.Failure, len(calls)),
	}
}

// passReady makes the calls Ready about which nobody has to decide.
func (r review) passReady() {
	for i, p := range r.calls {
		if p.call.State == store.Waiting && r.failed[i] == nil && !r.asks[i] && !r.unplaced[i] {
			p.call.State = store.Ready
		}
	}
}

// apply ends the calls that cannot run, and notes the state of all others.
func (r review) apply() {
	for i, p := range r.calls {
		switch {
		case r.failed[i] != nil:
			p.conv.endCall(p.call, failed(r.failed[i]))
		case isOpen(p.call):
			p.conv.batch.SetCall(*p.call)
		}
	}
}
