package agent_test

import (
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
)

func TestAnswer(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.model.Script(modeltest.Say("Hel", "lo").Usage(7, 2))
	p := w.pod()
	got := p.ended(p.say("hi"))
	if got.kinds() != "text token_usage complete" || got.text() != "Hello" || got.finish() != "stop" {
		t.Errorf("%s %q %s", got.kinds(), got.text(), got.finish())
	}
	if c := got[len(got)-1].GetComplete(); c.GetContent() != "Hello" || c.GetSummary() != "Hello" {
		t.Errorf("%v", c)
	}
}

// A step with a tool is two commits: the answer with the start of its call, and the result.
func TestToolStep(t *testing.T) {
	t.Parallel()
	f := echo("look")
	w := newFixture(t, f)
	w.model.Script(modeltest.Call("look", `{"a":1}`), modeltest.Say("done"))
	p := w.pod()
	s := p.say("go")
	got := p.ended(s)
	if want := "tool_call_chunk tool_call token_usage tool_call_result text token_usage complete"; got.kinds() != want {
		t.Errorf("got %s", got.kinds())
	}
	if r := got.results(); len(r) != 1 || r[0].GetResult() != `look{"a":1}` || r[0].GetIsError() || len(f.seen()) != 1 {
		t.Errorf("%v", r)
	}
	state := p.state(s)
	var roles []string
	for _, m := range state.Messages {
		roles = append(roles, m.Role)
	}
	if got := strings.Join(roles, " "); got != "user assistant tool assistant" || state.FinishReason != "stop" {
		t.Errorf("%s, %s", got, state.FinishReason)
	}
}
