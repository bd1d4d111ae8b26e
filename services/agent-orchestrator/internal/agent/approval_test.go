package agent_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// asking makes the tools of these names ask.
func asking(names ...string) *agentv1.InvokeRequest {
	rules := map[string]*agentv1.InterruptRule{}
	for _, name := range names {
		rules[name] = &agentv1.InterruptRule{Enabled: true, RequiresInterrupt: true}
	}
	return &agentv1.InvokeRequest{Message: "go", ToolInterruptConfig: rules}
}

func decision(id, what string) *agentv1.ToolCallDecision {
	return &agentv1.ToolCallDecision{ToolCallId: id, Decision: what}
}

// click is a run that waits for an approval of call_0, with look as call_1 beside it.
func clickAndLook(t *testing.T, open func() *store.Store) (*fixture, *pod, *device, *fake, agent.Started) {
	t.Helper()
	click, look := newDevice("click"), echo("look")
	w := newFixtureOn(t, open, click, look)
	w.model.Script(modeltest.Calls(modeltest.ToolCall{Name: "click", Args: `{"selector":"#pay"}`}, modeltest.ToolCall{Name: "look"}))
	p := w.pod()
	s := p.invoke(asking("click"))
	got := p.ended(s)
	if got.kinds() != "tool_call_chunk tool_call tool_call token_usage interrupt complete" || got.finish() != "interrupt" {
		t.Fatalf("%s", got.kinds())
	}
	in := got.interrupt(t)
	if c := in.GetToolCalls(); in.GetReason() != "approval" || len(c) != 1 || c[0].GetToolCallId() != "call_0" || c[0].GetNodeId() != "desk" ||
		string(c[0].GetToolArgsJson()) != `{"selector":"#pay"}` || len(c[0].GetDigest()) != 64 || c[0].GetExpiresAt().AsTime().Before(time.Now()) {
		t.Fatalf("%v", in)
	}
	if len(click.seen())+len(look.seen()) != 0 {
		t.Fatal("a call ran before the decision")
	}
	return w, p, click, look, s
}

func TestApproved(t *testing.T) {
	t.Parallel()
	w, p, click, look, s := clickAndLook(t, shared(t))
	w.model.Script(modeltest.Say("paid"))
	other := w.pod()
	next := other.resume(s, decision("call_0", "approved"))
	got := p.ended(next)
	if got.kinds() != "tool_call_result tool_call_result text token_usage complete" || got.text() != "paid" {
		t.Errorf("%s", got.kinds())
	}
	if len(click.seen()) != 1 || len(look.seen()) != 1 || click.seen()[0].Node != "desk" || click.seen()[0].NodeMark != "m1" {
		t.Errorf("%v, %v", click.seen(), look.seen())
	}
	if next.Run != s.Run {
		t.Error("a resume is another run")
	}
	_, err := p.Resume(t.Context(), user, &agentv1.ResumeRequest{SessionId: string(s.Session), ToolCallResults: []*agentv1.ToolCallDecision{decision("call_0", "approved")}})
	wantReason(t, err, errs.AlreadyDecided)
	_, err = p.Resume(t.Context(), user, &agentv1.ResumeRequest{SessionId: string(s.Session)})
	wantReason(t, err, errs.NotInterrupted)
	_, err = p.Resume(t.Context(), "bob", &agentv1.ResumeRequest{SessionId: string(s.Session), ToolCallResults: []*agentv1.ToolCallDecision{decision("call_0", "approved")}})
	wantReason(t, err, errs.SessionNotFound)
}

func TestRejected(t *testing.T) {
	t.Parallel()
	w, p, click, look, s := clickAndLook(t, shared(t))
	w.model.Script(modeltest.Say("as you wish"))
	d := decision("call_0", "rejected")
	d.Reason = "too dear"
	got := p.ended(p.resume(s, d))
	r := got.results()
	if len(r) != 2 || r[0].GetOutcome() != "rejected" || !strings.Contains(r[0].GetResult(), "too dear") || r[1].GetResult() != "look{}" {
		t.Errorf("%v", r)
	}
	if len(click.seen()) != 0 || len(look.seen()) != 1 {
		t.Error("the rejected call ran, or the other did not")
	}
}

func TestModified(t *testing.T) {
	t.Parallel()
	w, p, click, _, s := clickAndLook(t, shared(t))
	w.model.Script(modeltest.Say("."))
	d := decision("call_0", "modified")
	d.ToolArgsJson = []byte(`{"selector":"#cancel"}`)
	p.ended(p.resume(s, d))
	if len(click.seen()) != 1 || string(click.seen()[0].Args) != `{"selector":"#cancel"}` {
		t.Errorf("%v", click.seen())
	}
	last := w.model.Requests()[1]
	if body := string(last.Body); strings.Contains(body, "#pay") || !strings.Contains(body, "#cancel") {
		t.Errorf("the model is told %s", body)
	}
}

func TestHumanOrder(t *testing.T) {
	t.Parallel()
	w, p, _, _, s := clickAndLook(t, shared(t))
	w.model.Script(modeltest.Say("."))
	next, err := p.Resume(t.Context(), user, &agentv1.ResumeRequest{
		SessionId: string(s.Session), ToolCallResults: []*agentv1.ToolCallDecision{decision("call_0", "approved")}, HumanOrder: "use the second card",
	})
	if err != nil {
		t.Fatal(err)
	}
	p.ended(next)
	if !strings.Contains(string(w.model.Requests()[1].Body), "use the second card") {
		t.Error("the agent is not told")
	}
}

// What does not fit leaves the interrupt waiting.
func TestBadDecisions(t *testing.T) {
	t.Parallel()
	w, p, click, _, s := clickAndLook(t, shared(t))
	forged := decision("call_0", "approved")
	forged.Digest = strings.Repeat("0", 64)
	for _, tt := range []struct {
		decisions []*agentv1.ToolCallDecision
		want      errs.Reason
	}{
		{nil, errs.MissingDecision},
		{[]*agentv1.ToolCallDecision{decision("call_1", "approved"), decision("call_0", "approved")}, errs.UnknownCall},
		{[]*agentv1.ToolCallDecision{decision("call_0", "approved"), decision("call_0", "rejected")}, errs.InvalidDecision},
		{[]*agentv1.ToolCallDecision{forged}, errs.DigestDiffers},
	} {
		_, err := p.Resume(t.Context(), user, &agentv1.ResumeRequest{SessionId: string(s.Session), ToolCallResults: tt.decisions})
		wantReason(t, err, tt.want)
	}
	_, err := p.Invoke(t.Context(), user, &agentv1.InvokeRequest{Message: "x", SessionId: string(s.Session)})
	wantReason(t, err, errs.Interrupted)
	w.model.Script(modeltest.Say("."))
	p.ended(p.resume(s, decision("call_0", "approved")))
	if len(click.seen()) != 1 {
		t.Error("the interrupt did not wait")
	}
}

// What was approved does not run anywhere else.
func TestNodeChangesMeanwhile(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*device){
		"another node":   func(d *device) { d.move(tool.Place{Node: "lap", Mark: "m1"}, nil) },
		"another device": func(d *device) { d.move(tool.Place{Node: "desk", Mark: "m2"}, nil) },
		"gone": func(d *device) {
			d.move(tool.Place{}, &tool.Failure{Outcome: tool.NotDelivered, Reason: "NODE_NOT_CONNECTED", Message: "gone"})
		},
		"several": func(d *device) { d.move(tool.Place{}, &tool.Selection{}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, p, click, look, s := clickAndLook(t, shared(t))
			change(click)
			w.model.Script(modeltest.Say("I see"))
			got := p.ended(p.resume(s, decision("call_0", "approved")))
			if r := got.results(); r[0].GetOutcome() != "not_delivered" || len(click.seen()) != 0 || len(look.seen()) != 1 || got.text() != "I see" {
				t.Errorf("%v", r)
			}
		})
	}
}

// What was approved for a connection that is gone is asked about again, and runs once; what was to come after it waits.
func TestNodeReconnectsBeforeTheApproval(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		w, p, click, look, s := clickAndLook(t, open)
		click.move(tool.Place{Node: "desk", Mark: "m1#2"}, nil)
		first := p.state(s).Calls[0].Digest
		s = p.resume(s, decision("call_0", "approved"))
		got := p.ended(s)
		if got.kinds() != "interrupt complete" || got.finish() != "interrupt" {
			t.Fatalf("%s", got.kinds())
		}
		in := got.interrupt(t)
		c := in.GetToolCalls()
		if in.GetReason() != "approval" || len(c) != 1 || c[0].GetToolCallId() != "call_0" || c[0].GetDigest() == first || len(click.seen())+len(look.seen()) != 0 {
			t.Fatalf("%v", in)
		}
		// The first question's digest is no answer to the second.
		old := decision("call_0", "approved")
		old.Digest = first
		_, err := p.Resume(t.Context(), user, &agentv1.ResumeRequest{SessionId: string(s.Session), ToolCallResults: []*agentv1.ToolCallDecision{old}})
		wantReason(t, err, errs.DigestDiffers)
		w.model.Script(modeltest.Say("paid"))
		got = p.ended(w.pod().resume(s, decision("call_0", "approved")))
		if r := got.results(); len(r) != 2 || r[0].GetIsError() || r[1].GetIsError() || got.text() != "paid" || len(click.seen()) != 1 || len(look.seen()) != 1 {
			t.Errorf("%v", r)
		}
	})
}

func TestResumesRace(t *testing.T) {
	t.Parallel()
	storetest.Each(t, resumesRace)
}

func resumesRace(t *testing.T, open func() *store.Store) {
	w, p, click, _, s := clickAndLook(t, open)
	w.model.Script(modeltest.Say("."))
	pods := []*pod{p, w.pod()}
	s.After = p.state(s).LastSeq
	var wg sync.WaitGroup
	failures := make([]error, 8)
	for i := range failures {
		wg.Go(func() {
			_, failures[i] = pods[i%2].Resume(t.Context(), user, &agentv1.ResumeRequest{
				SessionId: string(s.Session), ToolCallResults: []*agentv1.ToolCallDecision{decision("call_0", "approved")},
			})
		})
	}
	wg.Wait()
	won := 0
	for _, err := range failures {
		if err == nil {
			won++
		} else {
			wantReason(t, err, errs.AlreadyDecided)
		}
	}
	if p.ended(s); won != 1 || len(click.seen()) != 1 {
		t.Errorf("%d resumes won, %d clicks", won, len(click.seen()))
	}
}

func TestNobodyDecides(t *testing.T) {
	t.Parallel()
	click := newDevice("click")
	w := newFixture(t, click)
	w.config.DecideWithin = time.Millisecond
	w.model.Script(modeltest.Call("click", nil), modeltest.Call("click", nil))
	p := w.pod()
	expired := func(in *agentv1.Interrupt) {
		testkit.Eventually(t, soon, func() bool {
			return time.Now().After(in.GetToolCalls()[0].GetExpiresAt().AsTime().Add(time.Millisecond))
		}, "the time is over")
	}
	s := p.invoke(asking("click"))
	expired(p.ended(s).interrupt(t))
	_, err := p.Resume(t.Context(), user, &agentv1.ResumeRequest{SessionId: string(s.Session), ToolCallResults: []*agentv1.ToolCallDecision{decision("call_0", "approved")}})
	wantReason(t, err, errs.ApprovalExpired)
	next := p.resume(s, decision("call_0", "timeout"))
	asked := p.ended(next)
	if r := asked.results(); len(r) != 1 || r[0].GetOutcome() != "timeout" || len(click.seen()) != 0 {
		t.Errorf("%v", r)
	}
	expired(asked.interrupt(t))
	// It asks again; now a new message comes instead of a decision.
	w.model.Script(modeltest.Say("never mind"))
	last := p.invoke(&agentv1.InvokeRequest{Message: "forget it", SessionId: string(s.Session)})
	if got := p.ended(last); got.text() != "never mind" || len(click.seen()) != 0 {
		t.Errorf("%q", got.text())
	}
}

func TestNodeSelection(t *testing.T) {
	t.Parallel()
	click := newDevice("click")
	nodes := []*nodev1.Node{{Info: &nodev1.NodeInfo{NodeId: "desk"}}, {Info: &nodev1.NodeInfo{NodeId: "lap"}}}
	click.move(tool.Place{}, &tool.Selection{Nodes: nodes})
	w := newFixture(t, click)
	w.model.Script(modeltest.Call("click", nil))
	p := w.pod()
	s := p.invoke(asking("click"))
	in := p.ended(s).interrupt(t)
	if in.GetReason() != "node_selection" || len(in.GetAvailableNodes()) != 2 || len(in.GetToolCalls()) != 1 {
		t.Fatalf("%v", in)
	}
	for node, want := range map[string]errs.Reason{"": errs.MissingDecision, "elsewhere": errs.InvalidDecision} {
		_, err := p.Resume(t.Context(), user, &agentv1.ResumeRequest{SessionId: string(s.Session), NodeId: node})
		wantReason(t, err, want)
	}
	click.move(tool.Place{Node: "lap", Mark: "m"}, nil)
	next, err := p.Resume(t.Context(), user, &agentv1.ResumeRequest{SessionId: string(s.Session), NodeId: "lap"})
	if err != nil {
		t.Fatal(err)
	}
	in = p.ended(next).interrupt(t)
	if in.GetReason() != "approval" || in.GetToolCalls()[0].GetNodeId() != "lap" {
		t.Fatalf("%v", in)
	}
	w.model.Script(modeltest.Say("."))
	p.ended(p.resume(next, decision("call_0", "approved")))
	if len(click.seen()) != 1 || click.seen()[0].Node != "lap" {
		t.Errorf("%v", click.seen())
	}
}

func TestNoNodeIsChosen(t *testing.T) {
	t.Parallel()
	click := newDevice("click")
	click.move(tool.Place{}, &tool.Selection{Nodes: []*nodev1.Node{{Info: &nodev1.NodeInfo{NodeId: "desk"}}}})
	w := newFixture(t, click)
	w.model.Script(modeltest.Call("click", nil), modeltest.Say("fine"))
	p := w.pod()
	s := p.say("go")
	p.ended(s)
	if got := p.ended(p.resume(s, decision("call_0", "rejected"))); got.results()[0].GetOutcome() != "rejected" || got.text() != "fine" {
		t.Errorf("%v", got)
	}
}

// An outage of the database is waited for, also where it is only asked what the user set up.
func TestSettingsCannotBeRead(t *testing.T) {
	t.Parallel()
	look := echo("look")
	w := newFixture(t, look)
	w.model.Script(modeltest.Call("look", nil), modeltest.Say("done"))
	p := w.pod()
	p.faults.mu.Lock()
	p.faults.away = 3
	p.faults.mu.Unlock()
	if got := p.ended(p.say("go")); got.text() != "done" || len(look.seen()) != 1 {
		t.Errorf("%v", got)
	}
}
