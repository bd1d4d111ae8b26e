package agent_test

import (
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

// A pod that was cut off and has not noticed yet that its run is another's starts no call of a sub-agent either; the other pod
// goes on with the sub-agent.
func TestSubAgentOfALostRunCallsNothing(t *testing.T) {
	t.Parallel()
	look := echo("look")
	w := newFixture(t, look)
	adoptEvery := w.config.AdoptEvery
	w.config.LeaseFor, w.config.AdoptEvery = time.Hour, time.Hour // it neither renews nor adopts in the time of this test
	asked, gate := make(chan struct{}), make(chan struct{})
	w.model.When(inTask("SUB"), modeltest.Func(func(modeltest.Request) modeltest.Answer {
		close(asked)
		return modeltest.Say().Wait(gate).Then(modeltest.Call("look", nil))
	}), modeltest.Say("looked"))
	w.model.Script(modeltest.Call("task", `{"prompt":"SUB"}`), modeltest.Say("who knows"))
	stalled := w.pod()
	s := stalled.say("go")
	<-asked
	stalled.faults.expire()
	w.config.AdoptEvery = adoptEvery
	other := w.pod()
	if got := other.ended(s); got.results()[0].GetResult() != "looked" || got.text() != "who knows" {
		t.Errorf("%v", got)
	}
	close(gate)
	testkit.Eventually(t, soon, func() bool { return stalled.Active() == 0 }, "the run is noticed to be lost")
	if len(look.seen()) != 0 {
		t.Error("a call was made for a run that is another pod's")
	}
}
