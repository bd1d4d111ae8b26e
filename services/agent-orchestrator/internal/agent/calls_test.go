package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

func TestCallsRunInOrder(t *testing.T) {
	t.Parallel()
	var order []string
	step := func(name string) *fake {
		return newFake(name, func(context.Context, tool.Invocation) (tool.Result, error) {
			order = append(order, name) // no lock: they must not run at once
			return tool.Result{Text: name}, nil
		})
	}
	w := newFixture(t, step("one"), step("two"), step("three"))
	w.model.Script(modeltest.Calls(modeltest.ToolCall{Name: "two"}, modeltest.ToolCall{Name: "one"}, modeltest.ToolCall{Name: "three"}), modeltest.Say("."))
	p := w.pod()
	got := p.ended(p.say("go"))
	if strings.Join(order, " ") != "two one three" || len(got.results()) != 3 {
		t.Errorf("%v, %v", order, got.results())
	}
}

func TestCallsThatAreNeverSent(t *testing.T) {
	t.Parallel()
	f := echo("look")
	w := newFixture(t, f)
	w.model.Script(modeltest.Calls(
		modeltest.ToolCall{Name: "nothing"}, modeltest.ToolCall{Name: "look", Args: `{"a":`}, modeltest.ToolCall{Name: "look", Args: `[1]`},
		modeltest.ToolCall{Name: "look", Args: ``},
	), modeltest.Say("sorry"))
	p := w.pod()
	s := p.say("go")
	got := p.ended(s)
	for i, want := range []string{"invalid", "invalid", "invalid", ""} {
		if r := got.results()[i]; r.GetOutcome() != want || r.GetIsError() != (want != "") {
			t.Errorf("call %d: %v", i, r)
		}
	}
	if len(f.seen()) != 1 || got.text() != "sorry" {
		t.Errorf("%d calls, %q", len(f.seen()), got.text())
	}
	for _, e := range got {
		if c := e.GetToolCall(); c.GetToolCallId() == "call_1" && string(c.GetToolArgsJson()) != `"{\"a\":"` {
			t.Errorf("malformed arguments are shown as %s", c.GetToolArgsJson())
		}
	}
	if last, _ := w.model.Requests()[1].Last("tool"); last.Content != "look{}" {
		t.Errorf("the model was told %q", last.Content)
	}
}

func TestCallIDs(t *testing.T) {
	t.Parallel()
	w := newFixture(t, echo("look"))
	same := modeltest.ToolCall{ID: "same", Name: "look"}
	w.model.Script(modeltest.Calls(same, modeltest.ToolCall{ID: "bad\nid", Name: "look"}), modeltest.Calls(same), modeltest.Say("."))
	p := w.pod()
	got := p.ended(p.say("go"))
	seen := map[string]int{}
	var first string
	for _, e := range got {
		if id := e.GetToolCall().GetToolCallId(); id != "" {
			seen[id]++
			if first == "" {
				first = id
			}
		}
	}
	if len(seen) != 3 || first != "same" {
		t.Errorf("the ids are %v", seen)
	}
	for _, e := range got {
		if c := e.GetToolCallChunk(); c != nil && seen[c.GetToolCallId()] != 1 {
			t.Errorf("a piece belongs to no call: %v", c)
		}
	}
}

func TestTooManyCalls(t *testing.T) {
	t.Parallel()
	f := echo("look")
	w := newFixture(t, f)
	calls := make([]modeltest.ToolCall, 200)
	for i := range calls {
		calls[i].Name = "look"
	}
	w.model.Script(modeltest.Calls(calls...), modeltest.Say("."))
	p := w.pod()
	got := p.ended(p.say("go"))
	if len(f.seen()) != 32 || len(got.results()) != 200 || got.finish() != "stop" {
		t.Errorf("%d calls, %d results, %s", len(f.seen()), len(got.results()), got.finish())
	}
}

func TestLoopEndsAtItsBudget(t *testing.T) {
	t.Parallel()
	f := echo("look")
	w := newFixture(t, f)
	w.model.Script(modeltest.Repeat(3, modeltest.Call("look", nil))...)
	p := w.pod()
	s := p.invoke(&agentv1.InvokeRequest{Message: "go", MaxSteps: 3})
	if got := p.ended(s); got.finish() != "max_steps" || len(f.seen()) != 3 {
		t.Errorf("%s after %d", got.finish(), len(f.seen()))
	}
	w.model.Script(modeltest.Say("again"))
	if got := p.ended(p.invoke(&agentv1.InvokeRequest{Message: "more", SessionId: string(s.Session)})); got.text() != "again" {
		t.Errorf("%q", got.text())
	}
}

func TestLargeResults(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("ä", 5<<19)
	f := newFake("look", func(context.Context, tool.Invocation) (tool.Result, error) {
		return tool.Result{Text: large, Artifacts: []tool.Artifact{{Type: "image", MIMEType: "image/jpeg", Data: []byte("jpeg")}}}, nil
	})
	w := newFixture(t, f)
	w.model.Script(modeltest.Call("look", nil), modeltest.Say("."))
	p := w.pod()
	s := p.say("go")
	r := p.ended(s).results()[0]
	if len(r.GetResult()) > 64<<10+300 || !strings.Contains(r.GetResult(), r.GetFilePath()) || r.GetFilePath() != "sandbox-output/"+s.Run+"/call_0.txt" {
		t.Errorf("%d bytes, %q", len(r.GetResult()), r.GetFilePath())
	}
	if _, data, err := w.files.Get(t.Context(), user, r.GetFilePath()); err != nil || string(data) != large {
		t.Errorf("%d bytes are kept, %v", len(data), err)
	}
	if len(r.GetArtifacts()) != 1 {
		t.Fatalf("%v", r.GetArtifacts())
	}
	a := r.GetArtifacts()[0]
	if file, data, err := w.files.Get(t.Context(), user, a.GetFilePath()); err != nil || string(data) != "jpeg" || a.GetSize() != 4 ||
		a.GetFilePath() != "sandbox-output/"+s.Run+"/call_0-1.jpg" || file.ContentType != "image/jpeg" {
		t.Errorf("%v, %v, %s, %v", a, file, data, err)
	}
}

// Whatever a tool does, the run goes on.
func TestToolsThatFail(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		do              func(ctx context.Context, in tool.Invocation) (tool.Result, error)
		outcome, reason string
	}{
		"its own error": {func(context.Context, tool.Invocation) (tool.Result, error) {
			return tool.Result{Text: "no such file", IsError: true}, nil
		}, "", ""},
		"not delivered": {func(context.Context, tool.Invocation) (tool.Result, error) {
			return tool.Result{}, &tool.Failure{Outcome: tool.NotDelivered, Reason: "NODE_BUSY", Message: "busy"}
		}, "not_delivered", "NODE_BUSY"},
		"any error": {func(context.Context, tool.Invocation) (tool.Result, error) { return tool.Result{}, fmt.Errorf("odd") }, "unknown", ""},
		"panic":     {func(context.Context, tool.Invocation) (tool.Result, error) { panic("secret") }, "unknown", ""},
		"too slow": {func(ctx context.Context, _ tool.Invocation) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}, "unknown", "TOOL_TIMEOUT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake("look", tt.do)
			f.spec.Timeout = 50 * time.Millisecond
			w := newFixture(t, f)
			w.model.Script(modeltest.Call("look", nil), modeltest.Say("I see"))
			p := w.pod()
			got := p.ended(p.say("go"))
			r := got.results()[0]
			if r.GetOutcome() != tt.outcome || r.GetReason() != tt.reason || !r.GetIsError() || strings.Contains(r.GetResult(), "secret") {
				t.Errorf("%v", r)
			}
			if got.text() != "I see" || len(f.seen()) != 1 {
				t.Errorf("%q after %d calls", got.text(), len(f.seen()))
			}
		})
	}
}

func TestTodosAreKept(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.model.Script(modeltest.Call("write_todos", `{"todos":[{"content":"a","status":"pending"}]}`), modeltest.Say("."))
	p := w.pod()
	s := p.say("go")
	p.ended(s)
	if got := string(p.state(s).Todos); got != `[{"content":"a","status":"pending"}]` {
		t.Errorf("kept %s", got)
	}
	w.model.Script(modeltest.Call("read_todos", nil), modeltest.Say("."))
	next := p.invoke(&agentv1.InvokeRequest{Message: "and?", SessionId: string(s.Session)})
	if r := p.ended(next).results()[0]; !strings.Contains(r.GetResult(), `"content":"a"`) {
		t.Errorf("%v", r)
	}
}

// A tool step without an approval takes two commits: the answer with the start of its call, and the result.
func TestCommitsOfAStep(t *testing.T) {
	t.Parallel()
	w := newFixture(t, echo("look"))
	// Without pieces of the arguments the stream itself has nothing to keep but the call's head.
	gate := make(chan struct{})
	w.model.Script(modeltest.Call("look", nil), modeltest.Say().Wait(gate).Then(modeltest.Say("x")))
	p := w.pod()
	var states []store.CallState
	p.faults.after = func(c store.Change) bool {
		for _, call := range c.Calls {
			states = append(states, call.State)
		}
		return false
	}
	s := p.say("go")
	close(gate)
	p.ended(s)
	if len(states) != 2 || states[0] != store.Started || states[1] != store.Ended {
		t.Errorf("the call was kept as %v", states)
	}
}
