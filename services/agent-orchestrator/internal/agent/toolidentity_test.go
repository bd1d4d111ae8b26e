package agent_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// changing is a source that has other tools from time to time.
type changing struct {
	mu    sync.Mutex
	tools []tool.Tool
}

func (c *changing) Tools(context.Context, tool.Scope) (tool.Listing, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return tool.Listing{Tools: c.tools}, nil
}

func (c *changing) set(tools ...tool.Tool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tools = tools
}

// served is a tool of an MCP server.
func served(server, name string) *fake {
	f := echo(name)
	f.spec.Layer, f.spec.Category, f.spec.Server = tool.MCP, tool.Service, server
	return f
}

// What was approved is one server's tool: another one that has its name by now does not run instead of it.
func TestAnotherToolWithTheApprovedName(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ before, after tool.Tool }{
		"another server": {served("files", "delete"), served("mail", "delete")},
		"a node":         {served("files", "delete"), newDevice("delete")},
		"no node":        {newDevice("delete"), served("files", "delete")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			source := &changing{}
			source.set(tt.before)
			w.sources = []tool.Source{source}
			w.model.Script(modeltest.Call("delete", nil), modeltest.Say("I see"))
			p := w.pod()
			s := p.invoke(asking("delete"))
			p.ended(s).interrupt(t)
			source.set(tt.after)
			got := p.ended(p.resume(s, decision("call_0", "approved")))
			if r := got.results(); len(r) != 1 || r[0].GetOutcome() != "not_delivered" || got.text() != "I see" {
				t.Errorf("%v", r)
			}
			for _, f := range []tool.Tool{tt.before, tt.after} {
				if d, ok := f.(*device); ok {
					f = d.fake
				}
				if f := f.(*fake); len(f.seen()) != 0 {
					t.Errorf("%v ran", f.spec)
				}
			}
		})
	}
}

// A rule about a tool holds also while another server's tool of the same name has it renamed.
func TestRuleAboutARenamedTool(t *testing.T) {
	t.Parallel()
	mine, other := served("files", "delete"), served("mail", "delete")
	w := newFixture(t, mine, other)
	w.model.Script(modeltest.Call("files__delete", nil), modeltest.Say("."))
	p := w.pod()
	s := p.invoke(asking("delete"))
	if got := p.ended(s); got.finish() != "interrupt" || len(mine.seen()) != 0 {
		t.Fatalf("%v", got)
	}
	p.ended(p.resume(s, decision("call_0", "approved")))
	if len(mine.seen()) != 1 || len(other.seen()) != 0 {
		t.Error("what was approved did not run")
	}
}

// What a person wrote is held against the tool's definition, as what a model wrote is.
func TestModifiedArgumentsThatDoNotFit(t *testing.T) {
	t.Parallel()
	f := served("files", "delete")
	f.spec.Parameters = []byte(`{"type":"object","required":["path"],"properties":{"path":{"type":"string"}}}`)
	w := newFixture(t, f)
	w.model.Script(modeltest.Call("delete", map[string]any{"path": "a"}), modeltest.Say("."))
	p := w.pod()
	s := p.invoke(asking("delete"))
	p.ended(s).interrupt(t)
	got := p.ended(p.resume(s, &agentv1.ToolCallDecision{ToolCallId: "call_0", Decision: "modified", ToolArgsJson: []byte(`{"path":7}`)}))
	if r := got.results(); len(r) != 1 || r[0].GetOutcome() != "invalid" || !strings.Contains(r[0].GetResult(), "arguments.path") || len(f.seen()) != 0 {
		t.Errorf("%v", r)
	}
}
