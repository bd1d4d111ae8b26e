package agent_test

import (
	"context"
	"errors"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// looker is a device that is looked up before each call.
type looker struct {
	*device
	prepare func(context.Context)
}

func (l *looker) Prepare(ctx context.Context, in tool.Invocation) func(context.Context) (tool.Result, error) {
	l.prepare(ctx)
	return func(ctx context.Context) (tool.Result, error) { return l.device.Call(ctx, in) }
}

// What has no effect of a call is done while the call's start is being stored; the rest not before it is.
func TestCallIsPreparedWhileItsStartIsStored(t *testing.T) {
	t.Parallel()
	looked := make(chan struct{})
	look := &looker{device: newDevice("look"), prepare: func(context.Context) { close(looked) }}
	w := newFixture(t, look)
	w.model.Script(modeltest.Call("look", `{"a":1}`), modeltest.Say("done"))
	p := w.pod()
	p.faults.refuse = func(c store.Change) error {
		if started("call_0")(c) {
			<-looked
			if len(look.seen()) != 0 {
				t.Error("the call ran before its start was stored")
			}
		}
		return nil
	}
	got := p.ended(p.say("go"))
	if len(look.seen()) != 1 || len(got.results()) != 1 || got.results()[0].GetResult() != `look{"a":1}` || got.finish() != "stop" {
		t.Errorf("%d calls, %v", len(look.seen()), got)
	}
}

// A call whose start cannot be stored is not made, and nothing is left of what was prepared.
func TestPreparedCallWhoseStartCannotBeStored(t *testing.T) {
	t.Parallel()
	begun, given := make(chan struct{}), make(chan struct{})
	look := &looker{device: newDevice("look"), prepare: func(ctx context.Context) {
		close(begun)
		<-ctx.Done()
		close(given)
	}}
	w := newFixture(t, look)
	w.model.Script(modeltest.Call("look", nil))
	p := w.pod()
	p.faults.refuse = func(c store.Change) error {
		if !started("call_0")(c) {
			return nil
		}
		<-begun
		return errors.New("a constraint")
	}
	got := p.ended(p.say("go"))
	if got.finish() != "error" || len(look.seen()) != 0 {
		t.Errorf("%d calls, %v", len(look.seen()), got)
	}
	select {
	case <-given:
	default:
		t.Error("the look-up outlives its run")
	}
}

// If preparing panics, the call is made whole.
func TestPreparingPanics(t *testing.T) {
	t.Parallel()
	look := &looker{device: newDevice("look"), prepare: func(context.Context) { panic("a mistake") }}
	w := newFixture(t, look)
	w.model.Script(modeltest.Call("look", nil), modeltest.Say("done"))
	p := w.pod()
	if got := p.ended(p.say("go")); got.finish() != "stop" || len(look.seen()) != 1 {
		t.Errorf("%d calls, %v", len(look.seen()), got)
	}
	testkit.Eventually(t, soon, func() bool { return p.Active() == 0 }, "the run is over")
}
