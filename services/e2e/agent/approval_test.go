package agent_test

import (
	"net/http"
	"reflect"
	"slices"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
)

const settingsPath = "/api/agent/approval-settings"

// settle sets the person's approval settings.
func (p *person) settle(gateway int, body string) {
	p.Helper()
	p.w.Gateways[gateway].Settle(p, p.name, body)
}

// wantSettings fails unless both gateways tell these.
func (p *person) wantSettings(mode string, allowlist ...any) {
	p.Helper()
	if allowlist == nil {
		allowlist = []any{}
	}
	for g := range 2 {
		if r := p.get(g, settingsPath); r.Body["mode"] != mode || !reflect.DeepEqual(r.Body["allowlist"], allowlist) {
			p.Errorf("gateway %d: %d %s", g, r.Status, r.Raw)
		}
	}
}

func TestApprovalSettings(t *testing.T) {
	t.Parallel()
	onEachStorage(t, map[string]func(*testing.T, *fixture){
		"are read and written on every gateway, for one user": func(t *testing.T, w *fixture) {
			p, other := w.newcomer(t), w.newcomer(t)
			reads := p.get(0, settingsPath).Body["allowlist"].([]any)
			for name, listed := range map[string]bool{
				"read_file": true, "list_tabs": true, "workspace_read": true, "write_todos": true, "github_list_repositories": true,
				"run_command": false, "write_file": false, "workspace_write": false, "click": false,
			} {
				if slices.Contains(reads, any(name)) != listed {
					t.Errorf("%s on a new user's list: %t", name, !listed)
				}
			}
			p.wantSettings("use_allowlist", reads...)
			p.settle(0, `{"mode":"use_allowlist","allowlist":["type","click","type"]}`)
			p.wantSettings("use_allowlist", "click", "type")
			p.settle(1, `{"allowlist":["click"]}`) // an omitted mode stays
			p.wantSettings("use_allowlist", "click")
			p.settle(1, `{"mode":"ask_everytime"}`)
			p.wantSettings("ask_everytime")
			for _, bad := range []string{`{"mode":"never"}`, `{"mode":1}`, `{"allowlist":"click"}`, `{"allowlist":[""]}`, `[]`, `{`} {
				if r := w.Gateways[0].Do(t, http.MethodPut, settingsPath, p.name, bad, nil); r.Status != 400 {
					t.Errorf("%s: %d %s", bad, r.Status, r.Raw)
				}
			}
			p.wantSettings("ask_everytime")
			other.wantSettings("use_allowlist", reads...)
		},
		"run everything: only what is marked asks": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(0, "chrome", "click", "type")
			p.model(clicks(1), modeltest.Call("type", `{"n":2}`), modeltest.Say("Done."))
			run := p.invoke(0, "Click.", asks("type"))
			if e := p.waiting(run); len(e.ToolCalls) != 1 || e.ToolCalls[0].Name != "type" {
				t.Error(e.Data)
			}
			p.ledger.Once(t, 1)
		},
		"use allowlist: what is not on it asks, and what is marked": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(1, "chrome", "click", "type")
			p.settle(1, `{"mode":"use_allowlist","allowlist":["click"]}`)
			p.model(clicks(1), modeltest.Call("type", `{"n":2}`), clicks(3), modeltest.Say("Done."))
			run := p.invoke(0, "Click.")
			if e := p.waiting(run); len(e.ToolCalls) != 1 || e.ToolCalls[0].Name != "type" {
				t.Error(e.Data)
			}
			p.ledger.Once(t, 1)
			again := p.resume(1, run.Session, results(decision("call_0", "approved")), asks("click"))
			if e := p.waiting(again); len(e.ToolCalls) != 1 || e.ToolCalls[0].Name != "click" {
				t.Error(e.Data)
			}
			p.ledger.Once(t, 1, 2)
		},
		"ask every time: everything that acts asks": func(t *testing.T, w *fixture) {
			p := w.person(t)
			p.node(0, "chrome", "click")
			p.settle(0, `{"mode":"ask_everytime","allowlist":["click"]}`)
			p.model(clicks(1), modeltest.Call("workspace_write", `{"path":"a.txt","content":"x"}`), modeltest.Say("Done."))
			run := p.invoke(1, "Click.")
			p.waiting(run)
			again := p.resume(0, run.Session, results(decision("call_1", "approved")))
			if e := p.waiting(again); e.ToolCalls[0].Name != "workspace_write" {
				t.Error(e.Data)
			}
			p.resume(1, run.Session, results(decision("call_0", "rejected"))).Complete("stop")
			p.ledger.Once(t, 1)
			if r := p.get(0, "/api/workspace/files"); r.Status != 200 || len(r.Body["files"].([]any)) != 0 {
				t.Errorf("a rejected call wrote: %s", r.Raw)
			}
		},
		"a changed mode counts from the next answer on": func(t *testing.T, w *fixture) {
			p := w.person(t)
			node := p.bare(0, "chrome", "click")
			p.model(clicks(1), clicks(2), modeltest.Say("Done."))
			run := p.invoke(0, "Click.")
			call := node.Call()
			p.settle(1, `{"mode":"ask_everytime"}`)
			node.Answer(call, p.ledger.See(call))
			if e := p.waiting(run); e.ToolCalls[0].ID != "call_2" {
				t.Error(e.Data)
			}
			p.ledger.Once(t, 1)
		},
	})
}
