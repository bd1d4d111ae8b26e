package runs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/calls"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/ledger"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/plan"
	"github.com/hecaton-dev/hecaton/services/hecaton/internal/bench/timeline"
)

// api is an agent's API whose answers a test makes: the nth request of a run is answered by the nth step of its script.
type api struct {
	t      *testing.T
	script []step

	mu   sync.Mutex
	asks map[string][]string // by session
	keys map[string]map[string]bool
}

// step checks a request and writes an answer.
type step struct {
	want string // how the request begins: method and path
	do   func(w http.ResponseWriter)
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	var body struct {
		Session string `json:"session_id"`
	}
	_ = json.Unmarshal(raw, &body)
	if body.Session == "" {
		body.Session = strings.Split(r.URL.Path, "/")[4]
	}
	a.mu.Lock()
	n := len(a.asks[body.Session])
	a.asks[body.Session] = append(a.asks[body.Session], r.Method+" "+strings.Replace(r.URL.Path, body.Session, "S", 1)+" "+r.Header.Get("Last-Event-ID")+" "+string(raw))
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		if a.keys[body.Session] == nil {
			a.keys[body.Session] = map[string]bool{}
		}
		a.keys[body.Session][key] = true
	}
	said := a.asks[body.Session][n]
	a.mu.Unlock()
	if n >= len(a.script) {
		a.t.Errorf("a request too many: %s", said)
		panic(http.ErrAbortHandler)
	}
	if !strings.HasPrefix(said, a.script[n].want) {
		a.t.Errorf("request %d is %s, want %s", n, said, a.script[n].want)
	}
	a.script[n].do(w)
}

// events streams events, from number first on, and ends the connection.
func events(first int, all ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i, e := range all {
			fmt.Fprintf(w, "id: %d\ndata: {\"seq\":%d,%s}\n\n", first+i, first+i, e)
		}
	}
}

// after answers with events, and then breaks the connection.
func breaks(do func(http.ResponseWriter)) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		do(w)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

func refuse(status int, reason string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"reason":%q,"detail":"because"}`, reason)
	}
}

const (
	text     = `"type":"text","content":"I call"`
	complete = `"type":"complete","finish_reason":"stop","content":"done"`
	waits    = `"type":"complete","finish_reason":"interrupt"`
	ask      = `"type":"interrupt","reason":"approval","tool_calls":[{"tool_call_id":"c0","tool_name":"bench_step","digest":"d"}]`
	choose   = `"type":"interrupt","reason":"node_selection","available_nodes":[{"node_id":"other"}]`
	invoke   = "POST /api/agent/invoke"
	resume   = "POST /api/agent/resume"
	again    = "GET /api/agent/sessions/S/events "
)

// scenario is a plan, and what its first run is.
type scenario struct {
	plan *plan.Plan
	run  plan.Run
}

func newScenario() scenario {
	p := plan.New(plan.Spec{Seed: 3, Users: 2, Nodes: 4})
	return scenario{p, p.Run(0)}
}

// results are the events of the run's tool calls, each answered; outcome is that of the last one.
func (w scenario) results(outcome string) (all []string) {
	for i, s := range w.run.Steps {
		result := calls.Answer(w.plan, Number(0, i), s.Answer)
		o := ""
		if i == len(w.run.Steps)-1 {
			o = outcome
		}
		all = append(all, fmt.Sprintf(`"type":"tool_call_result","tool_call_id":"c%d","tool_name":"bench_step","result":%q,"outcome":%q`, i, result, o))
	}
	return all
}

// play runs one run against a script, and returns what was found.
func (w scenario) play(t *testing.T, script ...step) (Findings, timeline.Snapshot, ledger.Balance, *api) {
	t.Helper()
	a := &api{t: t, script: script, asks: map[string][]string{}, keys: map[string]map[string]bool{}}
	server := httptest.NewServer(a)
	defer server.Close()
	book := ledger.New("step")
	rec := timeline.New(time.Now())
	l := &Load{o: Options{
		Plan: w.plan, Tag: "t", Servers: []string{server.URL}, Token: func(string) (string, error) { return "", nil }, Ledger: book, Recorder: rec, Sessions: 1, Timeout: 20 * time.Second,
	}}
	l.client = newClient(l.o.Servers, l.o.Token, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l.run(ctx, 0)
	l.client.http.CloseIdleConnections()
	for i := range w.run.Steps { // the node's end
		book.Execute(Number(0, i), w.plan.Owner(w.run.Node), fmt.Sprint(i), true)
	}
	return l.found, rec.Snapshot(time.Now()), book.Reconcile(), a
}

func join(parts ...[]string) (all []string) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func TestARun(t *testing.T) {
	t.Parallel()
	w := newScenario()
	all := join([]string{text}, w.results(""), []string{complete})
	found, s, b, a := w.play(t, step{invoke, events(1, all...)})
	if found.Broken != 0 || s.All.Runs.Finishes["stop"] != 1 || b.Answered != len(w.run.Steps) || !b.Reconciles() {
		t.Errorf("%+v %+v %+v", found, s.All.Runs, b)
	}
	said := a.asks["bench-t-0"][0]
	for _, want := range []string{`call bench_step {`, `"preferred_node_id":"` + w.plan.Node(w.run.Node).ID, `\"tag\":\"t\",\"n\":0,`, `"tool_interrupt_config":{"bench_step":{"enabled":true,"requires_interrupt":true}}`} {
		if !strings.Contains(said, want) {
			t.Errorf("it asks %s, without %s", said, want)
		}
	}
}

// Whatever breaks in between, the events are followed from the last one that came, and requests are sent again.
func TestABrokenStreamIsPickedUp(t *testing.T) {
	t.Parallel()
	w := newScenario()
	all := join([]string{text, ask, waits}, w.results(""), []string{text, complete})
	n := len(all)
	for name, script := range map[string][]step{
		"refused at first":                 {{invoke, refuse(503, "AGENT_UNAVAILABLE")}, {invoke, refuse(502, "")}, {invoke, events(1, all[:3]...)}, {resume, events(4, all[3:]...)}},
		"broken before anything was heard": {{invoke, breaks(func(http.ResponseWriter) {})}, {invoke, events(1, all[:3]...)}, {resume, events(4, all[3:]...)}},
		"broken in between":                {{invoke, breaks(events(1, all[0]))}, {again + "1", breaks(events(2, all[1]))}, {again + "2", events(3, all[2])}, {resume, breaks(events(4, all[3]))}, {again + "4", events(5, all[4:]...)}},
		"the server leaves":                {{invoke, events(1, all[:2]...)}, {again + "2", events(3, all[2])}, {resume, events(4, all[3:n-1]...)}, {again + fmt.Sprint(n-1), events(n, all[n-1])}},
		"the decision's answer is lost":    {{invoke, events(1, all[:3]...)}, {resume, breaks(func(http.ResponseWriter) {})}, {resume, refuse(409, "ALREADY_DECIDED")}, {again + "3", events(4, all[3:]...)}},
	} {
		found, s, b, a := w.play(t, script...)
		if found.Broken != 0 || s.All.Runs.Finishes["stop"] != 1 || s.All.Runs.Refused+s.All.Runs.Resumed == 0 || b.Answered != len(w.run.Steps) || !b.Reconciles() {
			t.Errorf("%s: %+v %+v %+v", name, found, s.All.Runs, b)
		}
		if len(a.asks["bench-t-0"]) != len(script) || len(a.keys["bench-t-0"]) != 1 {
			t.Errorf("%s: %v, names %v", name, a.asks, a.keys)
		}
		if resumed := strings.Join(a.asks["bench-t-0"], "\n"); !strings.Contains(resumed, `{"decision":"approved","digest":"d","tool_call_id":"c0","tool_name":"bench_step"}`) {
			t.Errorf("%s: the decision is in none of\n%s", name, resumed)
		}
	}
}

func TestANodeIsChosen(t *testing.T) {
	t.Parallel()
	w := newScenario()
	all := join([]string{choose, waits}, w.results(""), []string{complete})
	found, _, b, a := w.play(t, step{invoke, events(1, all[:2]...)}, step{resume, events(3, all[2:]...)})
	if found.Broken != 0 || !b.Reconciles() || !strings.Contains(a.asks["bench-t-0"][1], `"node_id":"other"`) {
		t.Errorf("%+v %v", found, a.asks)
	}
}

// Broken promises are found and told.
func TestBrokenPromises(t *testing.T) {
	t.Parallel()
	w := newScenario()
	good := w.results("")
	end := []string{complete}
	first := []string{good[0]}
	for name, tt := range map[string]struct {
		script []step
		says   string
		fault  ledger.Fault
	}{
		"a gap":                {[]step{{invoke, breaks(events(1, text))}, {again + "1", events(3, join(good, end)...)}}, "event 3 (tool_call_result) comes after 1", ""},
		"an event twice":       {[]step{{invoke, breaks(events(1, text))}, {again + "1", events(1, join([]string{text}, good, end)...)}}, "event 1 (text) comes after 1", ""},
		"a result twice":       {[]step{{invoke, events(1, join(first, good, end)...)}}, "its call c0 has a second result", ""},
		"a call too many":      {[]step{{invoke, events(1, join(good, []string{strings.Replace(good[0], `"c0"`, `"c9"`, 1)}, end)...)}}, "it has more results than", ""},
		"another tool":         {[]step{{invoke, events(1, join([]string{strings.Replace(good[0], "bench_step", "rm", 1)}, good, end)...)}}, "it called rm", ""},
		"finished otherwise":   {[]step{{invoke, events(1, join(good, []string{`"type":"error","error_code":"Internal"`, `"type":"complete","finish_reason":"error"`})...)}}, `it finished with "error": Internal`, ""},
		"refused for good":     {[]step{{invoke, refuse(400, "MODEL_MISSING")}}, "it was refused for good: HTTP 400 MODEL_MISSING: because", ""},
		"no event":             {[]step{{invoke, func(w http.ResponseWriter) { fmt.Fprint(w, "data: {]\n\n"); events(1, join(good, end)...)(w) }}}, "an event cannot be read", ""},
		"another's answer":     {[]step{{invoke, events(1, join([]string{strings.Replace(good[0], `"result":"`, `"result":"x`, 1)}, good[1:], end)...)}}, "", ledger.Foreign},
		"executed, it says no": {[]step{{invoke, events(1, join(w.results("not_delivered"), end)...)}}, "", ledger.Delivered},
	} {
		found, _, b, _ := w.play(t, tt.script...)
		if tt.says != "" && (found.Broken == 0 || !strings.Contains(fmt.Sprint(found.Problems), tt.says)) {
			t.Errorf("%s: %+v", name, found)
		}
		if tt.fault != "" && b.Faults[tt.fault] == 0 {
			t.Errorf("%s: %+v", name, b)
		}
	}
}

// A call whose outcome is unknown is reported as such, and steps after it must not have run.
func TestUnknownSteps(t *testing.T) {
	t.Parallel()
	w := newScenario()
	found, s, b, _ := w.play(t, step{invoke, events(1, join(w.results("unknown"), []string{complete})...)})
	if found.Broken != 0 || len(found.Remarks) != 0 || s.All.Runs.Steps["unknown"] != 1 || b.Unknown != 1 || b.UnknownExecuted != 1 || !b.Reconciles() {
		t.Errorf("%+v %+v %+v", found, s.All.Runs, b)
	}
	found, s, b, _ = w.play(t, step{invoke, events(1, complete)})
	if found.Broken != 0 || len(found.Remarks) != 1 || !strings.Contains(found.Remarks[0].Text, "it stopped after 0 of") || s.All.Runs.Steps[NotReached] != len(w.run.Steps) || b.Faults[ledger.Delivered] != len(w.run.Steps) {
		t.Errorf("%+v %+v %+v", found, s.All.Runs, b)
	}
}
