package agentfaults_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// scene is a run that is brought to a point at which its orchestrator may be killed.
type scene struct {
	name string
	// reach brings it there, and returns what is to be seen afterwards.
	reach func(u *user) (after func(u *user, killed bool))
	// waits says that no orchestrator works on it at that point.
	waits bool
}

var scenes = []scene{
	{name: "streaming text", reach: streamingText},
	{name: "streaming a call", reach: streamingACall},
	{name: "a call is at its node", reach: aCallIsAtItsNode},
	{name: "between calls", reach: betweenCalls},
	{name: "an approved call is at its node", reach: anApprovedCallIsAtItsNode},
	{name: "waiting for approval", reach: waitingForApproval, waits: true},
	{name: "a sub-agent's call is at its node", reach: aSubAgentsCallIsAtItsNode},
	{name: "a sub-agent waits for approval", reach: aSubAgentWaits, waits: true},
}

// Runs at every point are on two orchestrators. One is killed: what it worked on goes on at the other within the clients'
// own streams, and what the other worked on does not notice.
func TestRunsOfAKilledOrchestratorGoOnAtTheOther(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newFixture(t, cluster.Options{OrchestratorProcesses: true, Database: database})
		victim := w.Orchestrators[0]
		type reached struct {
			name   string
			user   *user
			killed bool
			after  func(u *user, killed bool)
		}
		var all []reached
		for _, sc := range scenes {
			for n, there := 0, sc.waits; n < 2 || !there; n++ { // at least one on each, as a rule
				before := active(t, victim)
				u := w.join(t, fmt.Sprint(strings.ReplaceAll(sc.name, " ", "-"), n))
				after := sc.reach(u)
				killed := active(t, victim) > before
				there = there || killed
				all = append(all, reached{fmt.Sprint(sc.name, " ", n), u, killed, after})
			}
		}
		victim.Kill()
		for _, r := range all {
			t.Run(r.name, func(t *testing.T) {
				u := *r.user
				u.T = t
				r.after(&u, r.killed)
			})
		}
	})
}

func streamingText(u *user) func(*user, bool) {
	gate := make(chan struct{})
	u.script(modeltest.Say("one ", "two ").Wait(gate).Then(modeltest.Say("three")), modeltest.Say("one ", "two and more"))
	s := u.invoke(u.Gateways[1])
	for said := ""; said != "one two "; said += s.Until("text").Content {
	}
	return func(u *user, killed bool) {
		want := "one two three"
		if killed {
			want = "one two and more"
		} else {
			close(gate)
		}
		u.ends(s, "stop")
		u.wantSaid(s, want)
		said := ""
		for _, e := range s.Heard {
			if e.Type == "text" {
				said += e.Content
			}
		}
		if said != want {
			u.Errorf("a client that knows only texts heard %q, want %q", said, want)
		}
	}
}

func streamingACall(u *user) func(*user, bool) {
	u.script(modeltest.Say("I ").Then(click(1).Stall(2)), modeltest.Say("I ").Then(click(2)), modeltest.Say("done"))
	u.serve()
	s := u.invoke(u.Gateways[1])
	s.Until("tool_call_chunk")
	return func(u *user, killed bool) {
		if !killed { // it would wait for ever
			s.Leave()
			return
		}
		u.ends(s, "stop")
		u.wantSaid(s, "I done")
		u.ledger.Once(u, 2)
	}
}

func aCallIsAtItsNode(u *user) func(*user, bool) {
	u.script(click(1), modeltest.Say("done"))
	s := u.invoke(u.Gateways[1])
	call := u.hold()
	return func(u *user, killed bool) {
		want := "1"
		if killed {
			want = "unknown"
			s.Until("tool_call_result")
		}
		u.answer(call) // which nobody waits for any more
		u.ends(s, "stop")
		u.wantSaid(s, "done")
		u.wantResults(s, map[string]string{"call_0": want})
		if killed && !strings.Contains(u.told(), "may have run; it was not run again") {
			u.Errorf("the model was told %q", u.told())
		}
		u.ledger.Once(u, 1)
	}
}

func betweenCalls(u *user) func(*user, bool) {
	u.script(each("click", 1, 2, 3), modeltest.Say("done"))
	s := u.invoke(u.Gateways[1])
	u.answer(u.hold())
	s.Until("tool_call_result")
	second := u.hold()
	return func(u *user, killed bool) {
		want := map[string]string{"call_0": "1", "call_1": "2", "call_2": "3"}
		if killed {
			want["call_1"] = "unknown"
		} else {
			u.answer(second)
		}
		u.serve()
		u.ends(s, "stop")
		u.wantResults(s, want)
		u.ledger.Once(u, 1, 2, 3)
	}
}

func anApprovedCallIsAtItsNode(u *user) func(*user, bool) {
	u.script(each("pay", 1, 2), modeltest.Say("done"))
	s := u.approve(u.Gateways[0], u.invoke(u.Gateways[1]))
	first := u.hold()
	return func(u *user, killed bool) {
		want := map[string]string{"call_0": "1", "call_1": "2"}
		if killed {
			want["call_0"] = "unknown"
		} else {
			u.answer(first)
		}
		u.serve()
		u.ends(s, "stop")
		u.wantResults(s, want)
		u.ledger.Once(u, 1, 2)
	}
}

func waitingForApproval(u *user) func(*user, bool) {
	u.script(each("pay", 1), modeltest.Say("done"))
	s := u.invoke(u.Gateways[1])
	calls := u.interrupted(s)
	return func(u *user, _ bool) {
		u.serve()
		yes := u.Gateways[0].Resume(u, u.name, u.decision(s.Session, "approved", calls))
		u.ends(yes, "stop")
		u.wantResults(yes, map[string]string{"call_0": "1"})
		u.ledger.Once(u, 1)
	}
}

var task = modeltest.Call("task", `{"prompt":"Do it."}`)

// nested fails unless a stream tells of one call of the sub-agent of call_0, which ended like this, and of the task's end.
func nested(u *user, s *cluster.Stream, want string) {
	u.Helper()
	var calls, ends []string
	for _, e := range s.Heard {
		switch {
		case e.Type == "text" && e.Parent != "":
			u.Errorf("a sub-agent's text is told as the answer's: %s", e.Data)
		case e.Type == "tool_call" && e.Parent == "call_0":
			calls = append(calls, e.ToolCallID)
		case e.Type == "tool_call_result":
			if e.Outcome == "" {
				e.Outcome = e.Result
			}
			ends = append(ends, e.Parent+" "+e.Outcome)
		}
	}
	if got := strings.Join(ends, ", "); len(calls) > 1 || got != "call_0 "+want+",  did it" {
		u.Errorf("calls %v, ended with %q", calls, got)
	}
}

func aSubAgentsCallIsAtItsNode(u *user) func(*user, bool) {
	u.script(task, click(1), modeltest.Say("did it"), modeltest.Say("done"))
	s := u.invoke(u.Gateways[1])
	call := u.hold()
	return func(u *user, killed bool) {
		want := "1"
		if killed {
			want = "unknown"
			s.Until("tool_call_result")
		}
		u.answer(call) // which nobody waits for any more
		u.ends(s, "stop")
		u.wantSaid(s, "done")
		nested(u, s, want)
		u.ledger.Once(u, 1)
	}
}

func aSubAgentWaits(u *user) func(*user, bool) {
	u.script(task, each("pay", 1), modeltest.Say("did it"), modeltest.Say("done"))
	s := u.invoke(u.Gateways[1])
	calls := u.interrupted(s)
	return func(u *user, _ bool) {
		if len(calls) != 1 || calls[0].Parent != "call_0" || calls[0].NodeID != "chrome" {
			u.Errorf("it waits for %v", calls)
		}
		u.serve()
		yes := u.Gateways[0].Resume(u, u.name, u.decision(s.Session, "approved", calls))
		u.ends(yes, "stop")
		nested(u, yes, "1")
		u.ledger.Once(u, 1)
		path := "/api/agent/sessions/" + s.Session + "/messages"
		if all := u.Gateways[1].Get(u, path, u.name).Raw; strings.Contains(all, `"parent_tool_call_id":"call_0"`) || strings.Contains(all, `"tool_name":"pay"`) {
			u.Errorf("the user's conversation is %s", all)
		}
		own := u.Gateways[1].Get(u, path+"?parent_tool_call_id=call_0", u.name).Raw
		for _, part := range []string{`"content":"Do it."`, `"tool_name":"pay"`, `"content":"did it"`, `"parent_tool_call_id":"call_0"`} {
			if !strings.Contains(own, part) {
				u.Errorf("%s is not in %s", part, own)
			}
		}
	}
}
