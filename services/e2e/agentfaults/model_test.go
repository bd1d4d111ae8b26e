package agentfaults_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// day is a bad day of a model, and what its user sees of it.
type day struct {
	name    string
	answers []modeltest.Answer
	// finish is the run's finish_reason; error the code of its error event.
	finish, error string
	said          string
	// asked is how often the model was asked.
	asked int
}

var slow = http.Header{"Retry-After-Ms": {"1"}}

var days = []day{
	{
		name:    "too many requests, then fine",
		answers: []modeltest.Answer{modeltest.Status(429, slow, `{"error":{"message":"slow down"}}`), modeltest.Say("fine")},
		finish:  "stop", said: "fine", asked: 2,
	},
	{
		name:    "too many requests for ever",
		answers: modeltest.Repeat(4, modeltest.Status(429, nil, `{"error":{"message":"slow down"}}`)),
		finish:  "error", error: "RateLimited", asked: 4,
	},
	{
		name:    "failing, then fine",
		answers: []modeltest.Answer{modeltest.Status(500, nil, ""), modeltest.Status(503, nil, "<html>"), modeltest.Say("fine")},
		finish:  "stop", said: "fine", asked: 3,
	},
	{
		name:    "failing for ever",
		answers: modeltest.Repeat(4, modeltest.Status(500, nil, "")),
		finish:  "error", error: "ModelUnavailable", asked: 4,
	},
	{
		name:    "the key is wrong",
		answers: []modeltest.Answer{modeltest.Status(401, nil, `{"error":{"message":"no"}}`)},
		finish:  "error", error: "Unauthorized", asked: 1,
	},
	{
		name:    "cut before any text",
		answers: []modeltest.Answer{modeltest.Say("x").Cut(0), modeltest.Say("fine")},
		finish:  "stop", said: "fine", asked: 2,
	},
	{
		name:    "cut in the text",
		answers: []modeltest.Answer{modeltest.Say("one ", "two").Cut(1), modeltest.Say("on", "e fi", "ne")},
		finish:  "stop", said: "one fine", asked: 2,
	},
	{
		name:    "cut in a call",
		answers: []modeltest.Answer{modeltest.Say("one ").Then(click(1).Cut(3)), modeltest.Say("one ").Then(click(2)), modeltest.Say("fine")},
		finish:  "stop", said: "one fine", asked: 3,
	},
	{
		name:    "ended without a reason",
		answers: []modeltest.Answer{modeltest.Say("one ").Finish("").NoDone(), modeltest.Say("one fine")},
		finish:  "stop", said: "one fine", asked: 2,
	},
	{
		name:    "cut for ever",
		answers: modeltest.Repeat(3, modeltest.Say("one ", "two").Cut(1)),
		finish:  "error", error: "ModelUnavailable", asked: 3,
	},
	{
		name:    "no stream at all",
		answers: []modeltest.Answer{modeltest.Body("text/html", "<p>Please log in</p>")},
		finish:  "error", error: "ModelProtocol", asked: 1,
	},
}

var silentDays = []day{
	{
		name:    "silent before its answer",
		answers: []modeltest.Answer{modeltest.Say("x").Stall(-1), modeltest.Say("x").Stall(0), modeltest.Say("fine")},
		finish:  "stop", said: "fine", asked: 3,
	},
	{
		name:    "silent in its answer",
		answers: []modeltest.Answer{modeltest.Say("one ", "two").Stall(1), modeltest.Say("one fine")},
		finish:  "stop", said: "one fine", asked: 2,
	},
}

func TestBadDaysOfAModel(t *testing.T) {
	t.Parallel()
	w := newFixture(t, cluster.Options{})
	for _, d := range days {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			d.live(t, w)
		})
	}
}

func TestAModelFallsSilent(t *testing.T) {
	t.Parallel()
	w := newFixture(t, cluster.Options{Orchestrator: func(_ int, c *orchestrator.Config) { c.StallTimeout = 2 * time.Second }})
	for _, d := range silentDays {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			d.live(t, w)
		})
	}
}

// live has a user live through the day, and go on afterwards.
func (d day) live(t *testing.T, w *fixture) {
	u := w.join(t, strings.ReplaceAll(d.name, " ", "-"), d.answers...)
	u.serve()
	s := u.invoke(w.Gateways[0])
	u.ends(s, d.finish)
	if d.error == "" {
		u.wantSaid(s, d.said)
		if last := s.Heard[len(s.Heard)-1]; !strings.HasSuffix(last.Content, "fine") {
			t.Errorf("it ends with %s", last.Data)
		}
	} else if e := s.Heard[len(s.Heard)-2]; e.Type != "error" || e.ErrorCode != d.error {
		t.Errorf("it ends with %s, want %s", e.Data, d.error)
	}
	if n := len(u.asked()); n != d.asked {
		t.Errorf("the model was asked %d times, want %d", n, d.asked)
	}
	// The session is none the worse for it.
	u.script(click(7), modeltest.Say("and on"))
	again := w.Gateways[1].Invoke(t, u.name, u.body(map[string]any{"message": "On.", "session_id": s.Session}))
	u.ends(again, "stop")
	u.wantSaid(again, "and on")
	ran := []int{7}
	if d.name == "cut in a call" {
		ran = []int{2, 7}
	}
	u.ledger.Once(t, ran...)
}

// Calls that cannot be made are never sent and never asked about; the model is told, and the run goes on.
func TestAModelMakesCallsThatCannotBeMade(t *testing.T) {
	t.Parallel()
	w := newFixture(t, cluster.Options{})
	for name, call := range map[string]modeltest.ToolCall{
		"cut JSON": {Name: "pay", Args: `{"n":1`}, "a list": {Name: "pay", Args: `[1]`}, "a text": {Name: "click", Args: `"n"`},
		"no JSON": {Name: "click", Args: "click it"}, "null": {Name: "click", Args: "null"}, "two objects": {Name: "click", Args: "{}{}"},
		"no such tool": {Name: "fly", Args: "{}"}, "no name": {Name: "", Args: "{}"}, "long name": {Name: strings.Repeat("x", 3000), Args: "{}"},
		"strange name": {Name: "a\x00\n<b>\u202e", Args: "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call.ID = "call_x"
			u := w.join(t, strings.ReplaceAll(name, " ", "-"),
				modeltest.Calls(call, modeltest.ToolCall{ID: "call_y", Name: "click", Args: `{"n":2}`}), modeltest.Say("fine"))
			u.serve()
			s := u.invoke(w.Gateways[0])
			u.ends(s, "stop")
			u.wantSaid(s, "fine")
			u.wantResults(s, map[string]string{"call_x": "invalid", "call_y": "2"})
			u.ledger.Once(t, 2)
		})
	}
}

// A model that never stops calling is stopped: after 50 answers, or as many as the request says.
func TestAModelCallsInALoop(t *testing.T) {
	t.Parallel()
	w := newFixture(t, cluster.Options{})
	for name, steps := range map[string]int{"default": 50, "fewer": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers, numbers := []modeltest.Answer{}, []int{}
			for n := range 200 {
				answers = append(answers, click(n+1))
				if n < steps {
					numbers = append(numbers, n+1)
				}
			}
			u := w.join(t, name, answers...)
			u.serve()
			body := u.body(map[string]any{"message": "Go."})
			if name != "default" {
				body["max_steps"] = steps
			}
			s := w.Gateways[0].Invoke(t, u.name, body)
			u.ends(s, "max_steps")
			if n := len(u.asked()); n != steps {
				t.Errorf("the model was asked %d times", n)
			}
			u.ledger.Once(t, numbers...)
		})
	}
}

// Of one answer with 200 calls, the first 32 run, in their order; the model is told of all.
func TestAModelMakes200CallsAtOnce(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newFixture(t, cluster.Options{Database: database})
		all := make([]int, 200)
		for i := range all {
			all[i] = i + 1
		}
		u := w.join(t, "ana", each("click", all...), modeltest.Say("fine"))
		order := []int{}
		u.node.Serve(func(c cluster.ToolCall) string {
			order = append(order, cluster.Number(c))
			return u.ledger.See(c)
		})
		s := u.invoke(w.Gateways[0])
		u.ends(s, "stop")
		want := map[string]string{}
		for i := range all {
			want[fmt.Sprint("call_", i)] = "invalid"
			if i < 32 {
				want[fmt.Sprint("call_", i)] = fmt.Sprint(i + 1)
			}
		}
		u.wantResults(s, want)
		u.ledger.Once(t, all[:32]...)
		if fmt.Sprint(order) != fmt.Sprint(all[:32]) {
			t.Errorf("they ran in the order %v", order)
		}
		tools := 0
		for _, m := range u.asked()[1].Messages {
			if m.Role == "tool" {
				tools++
			}
		}
		if tools != 200 {
			t.Errorf("the model was told of %d calls", tools)
		}
	})
}
