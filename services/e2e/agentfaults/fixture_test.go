package agentfaults_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// patience is how long a cluster may take to come over what was done to it.
const patience = time.Minute

// fixture is a cluster of two gateways and two orchestrators, and the model of all its users.
type fixture struct {
	*cluster.Cluster
	model *modeltest.Server
}

func newFixture(t *testing.T, opts cluster.Options) *fixture {
	t.Helper()
	model := modeltest.New(t)
	opts.Model = model.URL()
	if opts.Orchestrators == 0 {
		opts.Orchestrators = 2
	}
	return &fixture{cluster.Start(t, opts), model}
}

// user has a model's queue, a node and a ledger of their own. The node has the tools of [fixture.join]; "pay" asks first; nothing else does.
type user struct {
	*testing.T
	*fixture
	name   string
	node   *cluster.Client
	ledger *cluster.Ledger
}

// join adds a user whose node is connected to gateway 0.
func (w *fixture) join(t *testing.T, name string, answers ...modeltest.Answer) *user {
	t.Helper()
	u := &user{T: t, fixture: w, name: name, ledger: &cluster.Ledger{}}
	w.Gateways[0].RunEverything(t, name)
	// A gateway asks its orchestrators in turns: with an even number of questions for each run all would be at the same one.
	w.Gateways[0].Get(t, "/api/agent/approval-settings", name)
	u.node = w.Gateways[0].Extension(t, name, "chrome")
	u.node.Register(device("laptop"))
	u.script(answers...)
	return u
}

// device is what a node says of itself.
func device(name string) string {
	return `"node_name":"` + name + `","os":"linux","available_tools":["click","pay"]`
}

// script appends the model's answers for this user.
func (u *user) script(answers ...modeltest.Answer) { u.model.When(u.mine, answers...) }

func (u *user) mine(r modeltest.Request) bool { return r.Key() == u.name }

// asked are the requests that the model got for this user.
func (u *user) asked() []modeltest.Request {
	return slices.DeleteFunc(u.model.Requests(), func(r modeltest.Request) bool { return !u.mine(r) })
}

// told is the last result of a tool that the model got.
func (u *user) told() string {
	u.Helper()
	all := u.asked()
	m, ok := all[len(all)-1].Last("tool")
	if !ok {
		u.Fatal("the model was told of no result")
	}
	return m.Content
}

func (u *user) body(more map[string]any) map[string]any {
	body := map[string]any{
		"llm_config":            map[string]any{"baseUrl": u.model.URL(), "apiKey": u.name},
		"tool_interrupt_config": map[string]any{"pay": map[string]any{"enabled": true, "requires_interrupt": true}},
	}
	maps.Copy(body, more)
	return body
}

// invoke starts a run through a gateway.
func (u *user) invoke(g *cluster.Gateway) *cluster.Stream {
	u.Helper()
	return g.Invoke(u, u.name, u.body(map[string]any{"message": "Go."}))
}

// decision is a resume's body, with one decision for all calls of an interrupt.
func (u *user) decision(session, decision string, calls []cluster.PendingCall) map[string]any {
	results := []any{}
	for _, c := range calls {
		results = append(results, map[string]any{"tool_call_id": c.ID, "tool_name": c.Name, "decision": decision, "digest": c.Digest})
	}
	return u.body(map[string]any{"session_id": session, "tool_call_results": results})
}

// interrupted reads a stream to the end of its run at an interrupt.
func (u *user) interrupted(s *cluster.Stream) []cluster.PendingCall {
	u.Helper()
	calls := s.Until("interrupt").ToolCalls
	u.ends(s, "interrupt")
	return calls
}

// approve hands in a yes to everything that the stream's interrupt asks.
func (u *user) approve(g *cluster.Gateway, s *cluster.Stream) *cluster.Stream {
	u.Helper()
	calls := u.interrupted(s)
	return g.Resume(u, u.name, u.decision(s.Session, "approved", calls))
}

// serve answers the node's calls from now on.
func (u *user) serve() { u.node.Serve(u.ledger.See) }

// hold takes the node's next call without answering it.
func (u *user) hold() cluster.ToolCall {
	u.Helper()
	call := u.node.Call()
	u.ledger.See(call)
	return call
}

// answer answers a call that was held.
func (u *user) answer(call cluster.ToolCall) {
	u.Helper()
	u.node.Answer(call, cluster.Text(fmt.Sprint(cluster.Number(call))))
}

// ends reads a stream to its end, which must be for this reason, and compares it with what is kept.
func (u *user) ends(s *cluster.Stream, reason string) {
	u.Helper()
	s.Complete(reason)
	completes := 0
	for _, e := range s.Heard {
		if e.Type == "complete" {
			completes++
		}
	}
	if completes != 1 {
		u.Errorf("%d events are complete:\n%s", completes, s.Raw())
	}
	u.kept(s)
}

// kept compares what a stream said with what is kept.
func (u *user) kept(s *cluster.Stream) {
	u.Helper()
	first := s.Heard[0].Seq
	path := fmt.Sprintf("/api/agent/sessions/%s/events?follow=false&after_seq=%d", s.Session, first-1)
	got := events(u.Gateways[0].Get(u, path, u.name).Raw)
	for i, e := range s.Heard {
		if i >= len(got) || got[i] != e.Data {
			u.Fatalf("kept is\n%.3000s\nheard was\n%.3000s", strings.Join(got, "\n"), s.Raw())
		}
	}
}

// events are the events of a stream, JSON.
func events(raw string) (all []string) {
	for line := range strings.Lines(raw) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			all = append(all, strings.TrimSuffix(data, "\n"))
		}
	}
	return all
}

// results are what a stream said of calls, by their ids: the outcome, or the result where there is none.
func results(s *cluster.Stream) map[string]string {
	all := map[string]string{}
	for _, e := range s.Heard {
		if e.Type == "tool_call_result" {
			all[e.ToolCallID] += e.Outcome
			if e.Outcome == "" {
				all[e.ToolCallID] += e.Result
			}
		}
	}
	return all
}

func (u *user) wantResults(s *cluster.Stream, want map[string]string) {
	u.Helper()
	if got := results(s); !maps.Equal(got, want) {
		u.Errorf("the calls ended with %v, want %v", got, want)
	}
}

func (u *user) wantSaid(s *cluster.Stream, want string) {
	u.Helper()
	if got := cluster.Said(s.Heard); got != want {
		u.Errorf("it said %q, want %q", got, want)
	}
}

// active is how many runs an orchestrator works on.
func active(t *testing.T, o *cluster.Orchestrator) int {
	t.Helper()
	return int(o.Metric(t, "hecaton_agent_runs_active"))
}

func soon(t testing.TB, cond func() bool, msg string, args ...any) {
	t.Helper()
	testkit.Eventually(t, patience, cond, msg, args...)
}

func click(n int) modeltest.Answer { return modeltest.Call("click", fmt.Sprintf(`{"n":%d}`, n)) }

// each is one call per number, of one answer: call_0, call_1, …
func each(tool string, numbers ...int) modeltest.Answer {
	var calls []modeltest.ToolCall
	for _, n := range numbers {
		calls = append(calls, modeltest.ToolCall{Name: tool, Args: fmt.Sprintf(`{"n":%d}`, n)})
	}
	return modeltest.Calls(calls...)
}

func marshal(t testing.TB, body any) string {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
