package agent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store/storetest"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// of are the events of the sub-agent that does a call.
func (es events) of(parent string) (out events) {
	for _, e := range es {
		if e.GetParentToolCallId() == parent {
			out = append(out, e)
		}
	}
	return out
}

// onTasks holds for a change by which a sub-agent's call of a tool comes to a state.
func onTasks(toolName string, state store.CallState) func(store.Change) bool {
	return func(c store.Change) bool {
		return slices.ContainsFunc(c.Calls, func(c store.Call) bool { return c.Tool == toolName && c.State == state && c.Parent != "" })
	}
}

// conversation is what a sub-agent has said and heard, in short.
func conversation(t *testing.T, p *pod, s agent.Started, parent string) string {
	t.Helper()
	messages, err := p.store.Messages(t.Context(), s.Ref, parent, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range messages {
		if m.Parent != parent {
			t.Errorf("%+v", m)
		}
		out = append(out, m.Role+":"+m.Content)
	}
	return strings.Join(out, "|")
}

// What a sub-agent does is in events and messages of its own, and none of it in the user's conversation.
func TestSubAgentsHaveTheirOwnConversation(t *testing.T) {
	t.Parallel()
	look := echo("look")
	w := newFixture(t, look)
	w.model.When(inTask("SUB"), modeltest.Say("I look. ").Then(modeltest.Call("look", `{"at":"it"}`)), modeltest.Say("seen"))
	w.model.Script(modeltest.Call("task", `{"prompt":"SUB"}`), modeltest.Say("done"))
	p := w.pod()
	s := p.say("go")
	got := p.ended(s)
	nested := got.of("call_0")
	if k := nested.kinds(); k != "sub_agent_text tool_call token_usage tool_call_result sub_agent_text token_usage" {
		t.Errorf("%s", k)
	}
	if len(nested) < 4 {
		t.Fatalf("%v", got)
	}
	call, result := nested[1].GetToolCall(), nested[3].GetToolCallResult()
	if call.GetToolCallId() != result.GetToolCallId() || call.GetToolName() != "look" || result.GetResult() != `look{"at":"it"}` {
		t.Errorf("%v, %v", call, result)
	}
	if k := got.of("").kinds(); k != "tool_call_chunk tool_call token_usage tool_call_result text token_usage complete" || got.text() != "done" {
		t.Errorf("%s", k)
	}
	if c := conversation(t, p, s, "call_0"); c != `user:SUB|assistant:I look. |tool:look{"at":"it"}|assistant:seen` {
		t.Errorf("%s", c)
	}
	if c := conversation(t, p, s, ""); c != "user:go|assistant:|tool:seen|assistant:done" {
		t.Errorf("%s", c)
	}
}

// Calls of sub-agents are decided as all others: the run waits once none of its sub-agents goes on, asks about all calls at
// once, the node first, and goes on with each where it was, on any pod.
func TestSubAgentsAsk(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		click, far, look := newDevice("click"), newDevice("far"), echo("look")
		far.move(tool.Place{}, &tool.Selection{Nodes: []*nodev1.Node{{Info: &nodev1.NodeInfo{NodeId: "desk"}}}})
		w := newFixtureOn(t, open, click, far, look)
		w.model.When(inTask("CLICK"), modeltest.Calls(modeltest.ToolCall{Name: "look"}, modeltest.ToolCall{Name: "click", Args: `{"n":1}`}), modeltest.Say("clicked"))
		w.model.When(inTask("FAR"), modeltest.Call("far", nil), modeltest.Say("was far"))
		w.model.When(inTask("FREE"), modeltest.Call("look", nil), modeltest.Say("was free"))
		w.model.Script(modeltest.Calls(
			modeltest.ToolCall{Name: "task", Args: `{"prompt":"CLICK"}`}, modeltest.ToolCall{Name: "task", Args: `{"prompt":"FAR"}`},
			modeltest.ToolCall{Name: "task", Args: `{"prompt":"FREE"}`}, modeltest.ToolCall{Name: "look", Args: `{"last":true}`},
		), modeltest.Say("done"))
		p := w.pod()
		s := p.invoke(asking("click"))
		got := p.ended(s)
		in := got.interrupt(t)
		if c := in.GetToolCalls(); in.GetReason() != "node_selection" || len(c) != 1 || c[0].GetToolName() != "far" || c[0].GetParentToolCallId() != "call_1" {
			t.Fatalf("%v", in)
		}
		if r := got.of("").results(); len(r) != 1 || r[0].GetResult() != "was free" || len(look.seen()) != 1 {
			t.Errorf("%v, %d", r, len(look.seen()))
		}
		far.move(tool.Place{Node: "desk", Mark: "m1"}, nil)
		other := w.pod()
		s, err := other.Resume(t.Context(), user, &agentv1.ResumeRequest{SessionId: string(s.Session), NodeId: "desk"})
		if err != nil {
			t.Fatal(err)
		}
		in = other.ended(s).interrupt(t)
		if c := in.GetToolCalls(); in.GetReason() != "approval" || len(c) != 1 || c[0].GetToolName() != "click" || c[0].GetParentToolCallId() != "call_0" || c[0].GetDigest() == "" {
			t.Fatalf("%v", in)
		}
		if len(click.seen()) != 0 || len(look.seen()) != 1 {
			t.Error("a call ran before another one of its answer was decided")
		}
		id := in.GetToolCalls()[0].GetToolCallId()
		if _, err := p.Resume(t.Context(), user, &agentv1.ResumeRequest{SessionId: string(s.Session), ToolCallResults: []*agentv1.ToolCallDecision{decision("call_0", "approved")}}); err == nil {
			t.Error("the task itself was decided on")
		}
		s = p.resume(s, &agentv1.ToolCallDecision{ToolCallId: id, Decision: "modified", ToolArgsJson: []byte(`{"n":2}`)})
		got = p.ended(s)
		if got.finish() != "stop" || got.text() != "done" || len(far.seen()) != 1 || len(look.seen()) != 3 || len(click.seen()) != 1 || string(click.seen()[0].Args) != `{"n":2}` {
			t.Errorf("%v", got)
		}
		if c := conversation(t, p, s, "call_0"); c != `user:CLICK|assistant:|tool:look{}|tool:click{"n":2}|assistant:clicked` {
			t.Errorf("%s", c)
		}
		messages, err := p.store.Messages(t.Context(), s.Ref, "call_0", 0, 0)
		if err != nil || messages[1].Calls[1].Args != `{"n":2}` {
			t.Errorf("%+v, %v", messages, err)
		}
		if c := conversation(t, p, s, ""); c != `user:go|assistant:|tool:was free|tool:was far|tool:clicked|tool:look{"last":true}|assistant:done` &&
			c != `user:go|assistant:|tool:was free|tool:clicked|tool:was far|tool:look{"last":true}|assistant:done` {
			t.Errorf("%s", c)
		}
		_, err = p.Resume(t.Context(), user, &agentv1.ResumeRequest{SessionId: string(s.Session), ToolCallResults: []*agentv1.ToolCallDecision{decision(id, "approved")}})
		wantReason(t, err, errs.AlreadyDecided)
	})
}

// A sub-agent is told of a no, and goes on.
func TestSubAgentsAreToldOfRejections(t *testing.T) {
	t.Parallel()
	click := newDevice("click")
	w := newFixture(t, click)
	w.model.When(inTask("SUB"), modeltest.Call("click", nil), modeltest.Say("was not allowed"))
	w.model.Script(modeltest.Call("task", `{"prompt":"SUB"}`), modeltest.Say("done"))
	p := w.pod()
	s := p.invoke(asking("click"))
	id := p.ended(s).interrupt(t).GetToolCalls()[0].GetToolCallId()
	s, err := w.pod().Resume(t.Context(), user, &agentv1.ResumeRequest{
		SessionId: string(s.Session), HumanOrder: "LOOK ELSEWHERE",
		ToolCallResults: []*agentv1.ToolCallDecision{{ToolCallId: id, Decision: "rejected", Reason: "too dear"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := p.ended(s)
	for _, r := range w.model.Requests()[2:] {
		if !strings.Contains(r.Messages[0].Content, "LOOK ELSEWHERE") {
			t.Errorf("the model is not told: %s", r.Messages[0].Content)
		}
	}
	if r := got.results(); len(click.seen()) != 0 || r[0].GetOutcome() != "rejected" || r[1].GetResult() != "was not allowed" || got.text() != "done" {
		t.Errorf("%v", got)
	}
	if c := conversation(t, p, s, "call_0"); !strings.Contains(c, "too dear") {
		t.Errorf("%s", c)
	}
}

// The end of an interrupt that a sub-agent asked for answers its calls, and the call that it does.
func TestCancelledWhileASubAgentAsks(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open func() *store.Store) {
		click := newDevice("click")
		w := newFixtureOn(t, open, click)
		w.model.When(inTask("SUB"), modeltest.Call("click", nil))
		w.model.Script(modeltest.Call("task", `{"prompt":"SUB"}`), modeltest.Say("again"))
		p := w.pod()
		s := p.invoke(asking("click"))
		p.ended(s)
		if active, err := p.Cancel(t.Context(), s.Ref); !active || err != nil {
			t.Fatal(active, err)
		}
		kept, err := p.store.Events(t.Context(), s.Ref, s.After, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := events(kept)
		if r := got.results(); got.finish() != "cancelled" || len(r) != 2 || r[0].GetOutcome() != "cancelled" || r[1].GetToolName() != "task" || !strings.Contains(r[1].GetResult(), "What it had done until then stands") {
			t.Errorf("%v", got)
		}
		if nested := got.of("call_0").results(); len(nested) != 1 || nested[0].GetToolName() != "click" {
			t.Errorf("%v", nested)
		}
		next := p.invoke(&agentv1.InvokeRequest{SessionId: string(s.Session), Message: "go on"})
		if got := p.ended(next); got.text() != "again" {
			t.Errorf("%v", got)
		}
	})
}

// Wherever a pod dies in the midst of a sub-agent's work, another one goes on with it, and runs no call twice.
func TestPodDiesInASubAgent(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before, after func(store.Change) bool
		outcome       string
		ran           int
	}{
		"before its call starts":        {before: onTasks("look", store.Started), ran: 1},
		"after its call has started":    {after: onTasks("look", store.Started), outcome: "unknown", ran: 0},
		"before its call's end is kept": {before: onTasks("look", store.Ended), outcome: "unknown", ran: 1},
		"after its call has ended":      {after: onTasks("look", store.Ended), ran: 1},
		"when it has begun":             {after: started("call_0"), ran: 1},
		"before its answer is kept":     {before: answered("seen"), ran: 1},
		"after its answer":              {after: answered("seen"), ran: 1},
		"before the task's end is kept": {before: endedCall("call_0"), ran: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, open func() *store.Store) {
				look := echo("look")
				w := newFixtureOn(t, open, look)
				// What a pod did not keep it asks again.
				ask := modeltest.Func(func(r modeltest.Request) modeltest.Answer {
					if _, looked := r.Last("tool"); looked {
						return modeltest.Say("seen")
					}
					return modeltest.Call("look", nil)
				})
				w.model.When(inTask("SUB"), modeltest.Repeat(6, ask)...)
				w.model.Script(modeltest.Call("task", `{"prompt":"SUB"}`), modeltest.Say("done"), modeltest.Say("done"))
				dying := w.pod()
				dying.faults.before, dying.faults.after = tt.before, tt.after
				s := dying.say("go")
				dying.forgets(t)
				w.pod()
				got := dying.ended(s)
				nested := got.of("call_0").results()
				if len(nested) != 1 || nested[0].GetOutcome() != tt.outcome || len(look.seen()) != tt.ran {
					t.Errorf("%d ran, %v", len(look.seen()), nested)
				}
				if r := got.of("").results(); len(r) != 1 || r[0].GetResult() != "seen" || got.text() != "done" {
					t.Errorf("%v", r)
				}
				if c := conversation(t, dying, s, "call_0"); strings.Count(c, "user:") != 1 || strings.Count(c, "|tool:") != 1 || !strings.HasSuffix(c, "|assistant:seen") {
					t.Errorf("%s", c)
				}
			})
		})
	}
}

func answered(text string) func(store.Change) bool {
	return func(c store.Change) bool {
		return slices.ContainsFunc(c.Messages, func(m store.Message) bool { return m.Role == "assistant" && m.Content == text })
	}
}
