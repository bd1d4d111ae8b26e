package agent_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// fixture is a cluster whose gateways ask an orchestrator each, with a scripted model.
type fixture struct {
	*cluster.Cluster
	model *modeltest.Server
	users atomic.Int64
}

func newFixture(t *testing.T, opts cluster.Options) *fixture {
	t.Helper()
	w := &fixture{model: modeltest.New(t)}
	opts.Orchestrators, opts.Paired, opts.Model = 2, true, w.model.URL()
	w.Cluster = cluster.Start(t, opts)
	return w
}

// onEachStorage runs tests on a fixture with SQLite and on one with PostgreSQL.
func onEachStorage(t *testing.T, tests map[string]func(*testing.T, *fixture)) {
	t.Helper()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		within(t, newFixture(t, cluster.Options{Database: database}), tests)
	})
}

func within(t *testing.T, w *fixture, tests map[string]func(*testing.T, *fixture)) {
	t.Helper()
	for name, f := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, w)
		})
	}
}

// object is JSON that tests write.
type object = map[string]any

// person is a user with a model and nodes of its own.
type person struct {
	*testing.T
	w      *fixture
	name   string
	ledger *cluster.Ledger
}

// person runs everything.
func (w *fixture) person(t *testing.T) *person {
	t.Helper()
	p := w.newcomer(t)
	w.Gateways[0].RunEverything(t, p.name)
	return p
}

// newcomer has chosen nothing.
func (w *fixture) newcomer(t *testing.T) *person {
	return &person{T: t, w: w, name: fmt.Sprintf("user-%d", w.users.Add(1)), ledger: &cluster.Ledger{}}
}

// model says what the person's next requests are answered with.
func (p *person) model(answers ...modeltest.Answer) {
	p.w.model.When(func(r modeltest.Request) bool { return r.Key() == p.name }, answers...)
}

// asked are the requests of the person's runs so far.
func (p *person) asked() (list []modeltest.Request) {
	for _, r := range p.w.model.Requests() {
		if r.Key() == p.name {
			list = append(list, r)
		}
	}
	return list
}

// node connects a browser with tools that are noted in the ledger.
func (p *person) node(gateway int, id string, tools ...string) *cluster.Client {
	p.Helper()
	n := p.bare(gateway, id, tools...)
	n.Serve(p.ledger.See)
	return n
}

// bare connects a browser that does not answer by itself.
func (p *person) bare(gateway int, id string, tools ...string) *cluster.Client {
	p.Helper()
	list, err := json.Marshal(tools)
	if err != nil {
		p.Fatal(err)
	}
	n := p.w.Gateways[gateway].Extension(p, p.name, id)
	n.Register(`"available_tools":` + string(list))
	return n
}

// body is a request with the person's model.
func (p *person) body(members ...object) object {
	body := object{"llm_config": object{"apiKey": p.name}}
	for _, m := range members {
		maps.Copy(body, m)
	}
	return body
}

func (p *person) invoke(gateway int, message string, members ...object) *cluster.Stream {
	p.Helper()
	return p.w.Gateways[gateway].Invoke(p, p.name, p.body(append(members, object{"message": message})...))
}

// decision is one item of tool_call_results.
func decision(call, what string, members ...object) object {
	d := object{"tool_call_id": call, "decision": what}
	for _, m := range members {
		maps.Copy(d, m)
	}
	return d
}

func results(decisions ...object) object { return object{"tool_call_results": decisions} }

func (p *person) resume(gateway int, session string, members ...object) *cluster.Stream {
	p.Helper()
	return p.w.Gateways[gateway].Resume(p, p.name, p.body(append(members, object{"session_id": session})...))
}

// post sends a request that may be refused.
func (p *person) post(gateway int, path string, body object) cluster.Response {
	p.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		p.Fatal(err)
	}
	return p.w.Gateways[gateway].Post(p, path, p.name, string(raw))
}

func (p *person) put(gateway int, path string, body object) cluster.Response {
	p.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		p.Fatal(err)
	}
	return p.w.Gateways[gateway].Do(p, http.MethodPut, path, p.name, string(raw), nil)
}

func (p *person) get(gateway int, path string) cluster.Response {
	p.Helper()
	return p.w.Gateways[gateway].Get(p, path, p.name)
}

// refused fails unless a request was refused like this.
func (p *person) refused(r cluster.Response, status int, reason string) {
	p.Helper()
	if got, _ := r.Body["reason"].(string); r.Status != status || got != reason || r.Type != "application/problem+json" || r.Body["success"] != false {
		p.Errorf("got %d %s, want %d %s", r.Status, r.Raw, status, reason)
	}
}

// tryResume is resume where that should be refused.
func (p *person) tryResume(gateway int, session string, members ...object) cluster.Response {
	p.Helper()
	return p.post(gateway, "/api/agent/resume", p.body(append(members, object{"session_id": session})...))
}

// asks makes tools ask before they run.
func asks(tools ...string) object {
	rules := object{}
	for _, tool := range tools {
		rules[tool] = object{"enabled": true, "requires_interrupt": true}
	}
	return object{"tool_interrupt_config": rules}
}

// clicks is an answer with a numbered call for each number.
func clicks(numbers ...int) modeltest.Answer {
	var calls []modeltest.ToolCall
	for _, n := range numbers {
		calls = append(calls, modeltest.ToolCall{ID: fmt.Sprint("call_", n), Name: "click", Args: object{"n": n}})
	}
	return modeltest.Calls(calls...)
}

// waiting reads to the interrupt that ends a stream, and returns it.
func (p *person) waiting(s *cluster.Stream) cluster.Event {
	p.Helper()
	e := s.Until("interrupt")
	s.Complete("interrupt")
	return e
}

// told is what the model was told last about a call.
func (p *person) told(call string) string {
	p.Helper()
	requests := p.asked()
	for _, m := range requests[len(requests)-1].Messages {
		if m.Role == "tool" && m.CallID == call {
			return m.Content
		}
	}
	p.Fatalf("the model was told nothing of %s", call)
	return ""
}

// says fails unless a text contains all of these.
func (p *person) says(text string, parts ...string) {
	p.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			p.Errorf("%q does not say %q", text, part)
		}
	}
}
