package agent_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// unsure is a source whose tools cannot be looked up the first times.
type unsure struct {
	mu    sync.Mutex
	fails int
	tools []tool.Tool
}

var notLooked = &tool.Failure{Outcome: tool.NotDelivered, Reason: string(errs.BusUnavailable), Message: "not looked up just now"}

func (u *unsure) Tools(context.Context, tool.Scope) (tool.Listing, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.fails == 0 {
		return tool.Listing{Tools: u.tools}, nil
	}
	u.fails--
	return tool.Listing{Unlisted: notLooked, Stale: func() bool { return true }}, nil
}

func (u *unsure) fail(times int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.fails = times
}

func wantNotLooked(t *testing.T, r *agentv1.ToolCallResult) {
	t.Helper()
	if r.GetOutcome() != "not_delivered" || r.GetReason() != "BUS_UNAVAILABLE" || !r.GetIsError() || !strings.Contains(r.GetResult(), "not looked up just now") {
		t.Errorf("%v", r)
	}
}

// Of a tool that could only not be looked up nobody says that there is none: the call was not delivered, and once its source
// has answered it is.
func TestToolThatWasNotLookedUp(t *testing.T) {
	t.Parallel()
	click := newDevice("click")
	w := newFixture(t)
	w.sources = []tool.Source{&unsure{fails: 2, tools: []tool.Tool{click}}} // as the run begins, and before its first question
	w.model.Script(
		modeltest.Calls(modeltest.ToolCall{Name: "click"}, modeltest.ToolCall{Name: "write_todos", Args: `{"todos":[]}`}),
		modeltest.Calls(modeltest.ToolCall{Name: "click"}, modeltest.ToolCall{Name: "nothing"}),
		modeltest.Say("."),
	)
	p := w.pod()
	r := p.ended(p.say("go")).results()
	if len(r) != 4 {
		t.Fatalf("%v", r)
	}
	results := map[string][]*agentv1.ToolCallResult{}
	for _, r := range r {
		results[r.GetToolName()] = append(results[r.GetToolName()], r)
	}
	wantNotLooked(t, results["click"][0])
	if r := results["write_todos"][0]; r.GetIsError() {
		t.Errorf("another tool: %v", r)
	}
	if r := results["click"][1]; r.GetOutcome() != "" || r.GetResult() != "click{}" || len(click.seen()) != 1 {
		t.Errorf("once it was looked up: %v", r)
	}
	if r := results["nothing"][0]; r.GetOutcome() != "invalid" || !strings.Contains(r.GetResult(), "no tool with this name") {
		t.Errorf("a tool that there is not: %v", r)
	}
}

// What was approved is not gone where it could only not be looked up.
func TestApprovedToolThatWasNotLookedUp(t *testing.T) {
	t.Parallel()
	click := newDevice("click")
	w := newFixture(t)
	source := &unsure{tools: []tool.Tool{click}}
	w.sources = []tool.Source{source}
	w.model.Script(modeltest.Call("click", nil), modeltest.Say("."))
	p := w.pod()
	s := p.invoke(asking("click"))
	p.ended(s).interrupt(t)
	source.fail(1)
	r := p.ended(p.resume(s, decision("call_0", "approved"))).results()
	if len(r) != 1 || len(click.seen()) != 0 {
		t.Fatalf("%v", r)
	}
	wantNotLooked(t, r[0])
}

// A sub-agent knows no more than its agent does.
func TestToolThatASubAgentCannotLookUp(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.sources = []tool.Source{&unsure{fails: 2}}
	w.model.When(inTask("SUB"), modeltest.Call("click", nil), modeltest.Say("could not"))
	w.model.Script(modeltest.Call("task", `{"prompt":"SUB"}`), modeltest.Say("."))
	p := w.pod()
	p.ended(p.say("go"))
	if body := string(w.model.Requests()[2].Body); !strings.Contains(body, "not looked up just now") || strings.Contains(body, "no tool with this name") {
		t.Errorf("the sub-agent is told %s", body)
	}
}
