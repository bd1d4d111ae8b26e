package agent_test

import (
	"errors"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// A step that can never be kept ends the run; it is not tried for ever, by one pod after the other.
func TestStepCannotBeStored(t *testing.T) {
	t.Parallel()
	f := echo("look")
	w := newFixture(t, f)
	w.model.Script(modeltest.Call("look", nil))
	p := w.pod()
	p.faults.refuse = func(c store.Change) error {
		if started("call_0")(c) {
			return errors.New("a constraint")
		}
		return nil
	}
	s := p.say("go")
	got := p.ended(s)
	if e := got[len(got)-2].GetError(); got.finish() != "error" || e.GetCode() != "Internal" || len(f.seen()) != 0 {
		t.Errorf("%v", got)
	}
	if m := p.state(s).Messages; len(m) != 1 {
		t.Errorf("%v", m)
	}
}
