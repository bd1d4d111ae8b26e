package agent_test

import (
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

func TestBuiltInTools(t *testing.T) {
	t.Parallel()
	onEachStorage(t, map[string]func(*testing.T, *fixture){
		"the todo list outlives its run, on any pod": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.model(
				modeltest.Call("write_todos", `{"todos":[{"content":"find the shop","status":"completed"},{"content":"buy milk","status":"pending"}]}`),
				modeltest.Say("Noted."), modeltest.Call("read_todos", `{}`), modeltest.Say("Milk."))
			run := p.invoke(0, "Remember the milk.")
			run.Complete("stop")
			again := p.invoke(1, "What was it?", object{"session_id": run.Session})
			e := again.Until("tool_call_result")
			p.says(e.Result, "find the shop", "buy milk", "completed", "pending")
			again.Complete("stop")
			// Each session has its own.
			p.model(modeltest.Call("read_todos", `{}`), modeltest.Say("Nothing."))
			other := p.invoke(0, "What was it?")
			if e := other.Until("tool_call_result"); e.Result != "[]" {
				t.Errorf("another session reads %s", e.Data)
			}
			other.Complete("stop")
		},
		"sub-agents work at the same time, with the tools of the run": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(0, "chrome", "click")
			both := make(chan struct{})
			is := func(text string) func(modeltest.Request) bool {
				return func(r modeltest.Request) bool {
					m, ok := r.Last("user")
					return ok && r.Key() == p.name && m.Content == text
				}
			}
			// Each sub-agent waits for the other to be asked.
			w.model.When(is("Click the first."), modeltest.Say().Wait(both).Then(clicks(1)), modeltest.Say("The first is done."))
			w.model.When(is("Click the second."), modeltest.Func(func(modeltest.Request) modeltest.Answer {
				close(both)
				return clicks(2)
			}), modeltest.Say("The second is done."))
			w.model.When(is("Click both."), modeltest.Calls(
				modeltest.ToolCall{ID: "task_1", Name: "task", Args: object{"description": "first", "prompt": "Click the first."}},
				modeltest.ToolCall{ID: "task_2", Name: "task", Args: object{"description": "second", "prompt": "Click the second."}},
			), modeltest.Say("Both are done."))
			run := p.invoke(1, "Click both.")
			run.Complete("stop")
			p.says(p.told("task_1"), "The first is done.")
			p.says(p.told("task_2"), "The second is done.")
			p.ledger.Once(t, 1, 2)
			if got := cluster.Said(run.Heard); got != "Both are done." {
				t.Errorf("the stream says %q", got)
			}
		},
		"the old form of a task is taken": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.model(modeltest.Call("task", `{"agent":"helper","task":"Say hello."}`), modeltest.Say("Hello."), modeltest.Say("It said hello."))
			p.invoke(1, "Have somebody say hello.").Complete("stop")
			p.says(p.told("call_0"), "Hello.")
		},
		"a task that is rejected does not start": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.model(modeltest.Call("task", `{"description":"x","prompt":"Buy it."}`), modeltest.Say("I did not."))
			run := p.invoke(1, "Buy it.", asks("task"))
			p.waiting(run)
			p.resume(0, run.Session, results(decision("call_0", "rejected", object{"reason": "no money"}))).Complete("stop")
			if n := len(p.asked()); n != 2 {
				t.Errorf("the model was asked %d times", n)
			}
		},
		"what a sub-agent may not do without a person it does not do": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(0, "chrome", "click")
			p.model(modeltest.Call("task", `{"description":"x","prompt":"Click it."}`), clicks(1), modeltest.Say("I may not."), modeltest.Say("It may not."))
			run := p.invoke(1, "Have it clicked.", asks("click"))
			e := p.waiting(run)
			p.resume(0, run.Session, results(decision(e.ToolCalls[0].ID, "rejected"))).Complete("stop")
			p.ledger.Once(t)
		},
		"files that the agent writes are the user's, on every gateway": func(t *testing.T, w *fixture) {
			p, other := w.person(t), w.person(t)
			p.model(modeltest.Call("workspace_write", `{"path":"projects/notes.md","content":"# Notes\n"}`),
				modeltest.Call("workspace_edit", `{"path":"projects/notes.md","old_text":"# Notes","new_text":"# My notes"}`), modeltest.Say("Written."))
			p.invoke(0, "Take notes.").Complete("stop")
			for g := range 2 {
				if r := p.get(g, "/api/workspace/files/projects/notes.md"); r.Status != 200 || r.Raw != "# My notes\n" {
					t.Errorf("gateway %d: %d %q", g, r.Status, r.Raw)
				}
				other.refused(other.get(g, "/api/workspace/files/projects/notes.md"), 404, "FILE_NOT_FOUND")
			}
		},
	})
}
