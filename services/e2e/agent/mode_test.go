package agent_test

import (
	"slices"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

func TestModes(t *testing.T) {
	t.Parallel()
	within(t, newFixture(t, cluster.Options{}), map[string]func(*testing.T, *fixture){
		"agent mode offers everything": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(0, "chrome", "click", "odd_tool_of_its_own")
			p.model(modeltest.Say("Hello."))
			p.invoke(1, "Hello.").Complete("stop")
			p.offered("click", "odd_tool_of_its_own", "workspace_read", "workspace_write", "write_todos", "read_todos", "task")
		},
		"ask mode keeps what acts in sight, and sends the user to agent mode": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(0, "chrome", "click")
			p.model(clicks(1), modeltest.Call("workspace_write", `{"path":"a","content":"b"}`), modeltest.Say("Done."))
			run := p.invoke(1, "Click.", object{"mode": "ask"}, asks("click", "workspace_write"))
			run.Complete("stop") // nothing asks: nothing can change anything
			p.offered("click", "workspace_read", "workspace_write", "write_todos", "task")
			p.says(p.told("call_1"), "Agent mode")
			p.says(p.told("call_0"), "Agent mode")
			p.ledger.Once(t)
			if r := p.get(0, "/api/workspace/files/a"); r.Status != 404 {
				t.Errorf("it wrote: %d %s", r.Status, r.Raw)
			}
		},
		"plan mode hides what acts": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(0, "chrome", "click")
			p.model(clicks(1), modeltest.Say("A plan."))
			run := p.invoke(1, "Click.", object{"mode": "plan"}, asks("click"))
			if e := run.Until("tool_call_result"); e.Outcome != "invalid" {
				t.Error(e.Data)
			}
			run.Complete("stop")
			p.offered("workspace_read", "write_todos", "task")
			p.notOffered("click", "workspace_write", "workspace_edit", "workspace_delete")
			p.ledger.Once(t)
		},
		"the mode is that of each run": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(0, "chrome", "click")
			p.model(modeltest.Say("A plan."), clicks(1), modeltest.Say("Done."))
			run := p.invoke(1, "Plan it.", object{"mode": "plan"})
			run.Complete("stop")
			p.invoke(0, "Now do it.", object{"session_id": run.Session, "mode": "agent"}).Complete("stop")
			p.ledger.Once(t, 1)
			if r := p.get(1, "/api/agent/sessions/"+run.Session); r.Body["mode"] != "agent" {
				t.Error(r.Raw)
			}
		},
	})
}

// offered fails unless the model was last offered these tools.
func (p *person) offered(tools ...string) {
	p.Helper()
	got := p.asked()[len(p.asked())-1].Tools
	for _, tool := range tools {
		if !slices.Contains(got, tool) {
			p.Errorf("%s is not offered: %v", tool, got)
		}
	}
}

func (p *person) notOffered(tools ...string) {
	p.Helper()
	got := p.asked()[len(p.asked())-1].Tools
	for _, tool := range tools {
		if slices.Contains(got, tool) {
			p.Errorf("%s is offered", tool)
		}
	}
}
