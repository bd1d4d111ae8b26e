package tool_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

func of(layer tool.Layer, server string, names ...string) (out []tool.Tool) {
	for _, name := range names {
		out = append(out, plain{Name: name, Layer: layer, Server: server})
	}
	return out
}

func TestLabel(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tools    [][]tool.Tool
		want     []string
		problems int
	}{
		"nothing collides": {
			[][]tool.Tool{of(tool.MCP, "a", "find"), of(tool.MCP, "b", "search"), of(tool.Connector, "", "click")},
			[]string{"click", "find", "search"}, 0,
		},
		"two servers": {
			[][]tool.Tool{of(tool.MCP, "a", "find", "x"), of(tool.MCP, "b", "find")},
			[]string{"a__find", "b__find", "x"}, 0,
		},
		"a server and a node": {
			[][]tool.Tool{of(tool.MCP, "a", "click"), of(tool.Connector, "", "click")},
			[]string{"a__click", "click"}, 0,
		},
		"a server and a provider": {
			[][]tool.Tool{of(tool.MCP, "a", "github_list"), of(tool.OAuth, "", "github_list")},
			[]string{"a__github_list", "github_list"}, 0,
		},
		"a provider and a node": {
			[][]tool.Tool{of(tool.OAuth, "", "github_list"), of(tool.Connector, "", "github_list")},
			[]string{"github_list", "oauth__github_list"}, 0,
		},
		"a node and a built-in tool": {
			[][]tool.Tool{of(tool.Connector, "", "task", "click"), of(tool.Builtin, "", "task")},
			[]string{"click", "task"}, 1,
		},
		"a qualified name that is taken": {
			[][]tool.Tool{of(tool.MCP, "a", "find"), of(tool.MCP, "b", "find"), of(tool.Connector, "", "a__find")},
			[]string{"a__find", "b__find", "mcp__a__find"}, 0,
		},
		"one that an MCP server has": {
			[][]tool.Tool{of(tool.MCP, "a", "find"), of(tool.MCP, "b", "find"), of(tool.MCP, "c", "a__find")},
			[]string{"a__find", "b__find", tool.Key(tool.Spec{Layer: tool.MCP, Server: "c", Name: "a__find"})}, 0,
		},
		"a server with two": {
			[][]tool.Tool{of(tool.MCP, "a", "find", "find")},
			[]string{"a__find"}, 1,
		},
		"nothing": {nil, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := slices.Concat(tt.tools...)
			out, problems := tool.Label(all)
			got := names(out)
			slices.Sort(got)
			if !slices.Equal(got, tt.want) || len(problems) != tt.problems {
				t.Errorf("got %v, %q", got, problems)
			}
		})
	}
}

func TestLabelKeepsWhatTheToolIs(t *testing.T) {
	t.Parallel()
	out, problems := tool.Label(append(of(tool.MCP, "a", "click"), placed{plain{Name: "click", Layer: tool.Connector}}))
	if len(out) != 2 || len(problems) != 0 {
		t.Fatalf("%v, %v", names(out), problems)
	}
	if _, ok := out[0].(tool.Placed); !ok {
		t.Error("a node's tool is no longer placed")
	}
	if r, err := out[1].Call(t.Context(), tool.Invocation{}); err != nil || r.Text != "ran click" {
		t.Errorf("a server's tool is called by another name: %v, %v", r, err)
	}
	if key := tool.Key(out[1].Spec()); key != "mcp__a__click" {
		t.Errorf("its key is %s", key)
	}
}

func TestModelName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 64)
	for want, spec := range map[string]tool.Spec{
		"task":               {Layer: tool.Builtin, Name: "task"},
		"click":              {Layer: tool.Connector, Name: "click"},
		long:                 {Layer: tool.Connector, Name: long},
		"oauth__github_list": {Layer: tool.OAuth, Name: "github_list"},
		"mcp__srv__find":     {Layer: tool.MCP, Server: "srv", Name: "find"},
		"mcp__srv__f":        {Layer: tool.MCP, Server: "srv", Name: "srv__f", OwnName: "f"},
	} {
		if got := tool.ModelName(spec); got != want {
			t.Errorf("%+v became %q", spec, got)
		}
	}
	seen := map[string]tool.Spec{}
	for _, spec := range []tool.Spec{
		{Layer: tool.Connector, Name: "browser.click"}, {Layer: tool.Connector, Name: "browser click"}, {Layer: tool.Connector, Name: "点击"},
		{Layer: tool.Connector, Name: "点选"}, {Layer: tool.Connector, Name: long + "x"}, {Layer: tool.Connector, Name: "mcp__srv__find"},
		{Layer: tool.Connector, Name: "node__x"}, {Layer: tool.Connector, Name: "_"},
		{Layer: tool.MCP, Server: "a", Name: "b__c"}, {Layer: tool.MCP, Server: "a__b", Name: "c"}, {Layer: tool.MCP, Server: "a_", Name: "b"},
		{Layer: tool.MCP, Server: "a", Name: "_b"}, {Layer: tool.MCP, Server: "a b", Name: "c"}, {Layer: tool.MCP, Server: "a", Name: "b c"},
		{Layer: tool.MCP, Server: long, Name: long},
	} {
		got := tool.ModelName(spec)
		if !sound(got) {
			t.Errorf("%+v became %q", spec, got)
		}
		if other, twice := seen[got]; twice {
			t.Errorf("%+v and %+v are both %q", spec, other, got)
		}
		seen[got] = spec
	}
}

// sound reports whether model endpoints take a name.
func sound(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// FuzzNames: whatever servers and nodes call their tools, and whatever else there is, the names that models hear are sound,
// each means one tool, and the tools of one source keep theirs when those of another come. The attacker may know the names of
// the others: it also takes them for its own.
func FuzzNames(f *testing.F) {
	f.Add("srv", "find\nb__c", "mail", "find", "click\ntask\nmcp__srv__find")
	f.Add("a", "b__c", "a__b", "c", "a__b__c\nnode__x\n_x\nx_")
	f.Add("\xff", "\x00\n", "点", "点\n点", strings.Repeat("x", 70))
	f.Fuzz(func(t *testing.T, one, ones, other, others, nodes string) {
		if one == "" || one == other {
			return
		}
		split := func(text string) []string {
			return slices.DeleteFunc(strings.Split(text, "\n"), func(s string) bool { return s == "" })
		}
		before := slices.Concat(of(tool.Builtin, "", "task", "find_tools"), of(tool.OAuth, "", "github_list"), of(tool.MCP, one, split(ones)...))
		names := meanings(t, before)
		stolen := slices.Collect(maps.Keys(names))
		after := meanings(t, slices.Concat(of(tool.Connector, "", append(split(nodes), stolen...)...), of(tool.MCP, other, append(split(others), stolen...)...), before))
		for name, was := range names {
			if is := after[name]; is != was {
				t.Errorf("%q meant %+v, and means %+v", name, was, is)
			}
		}
	})
}

type owner struct {
	layer             tool.Layer
	server, name, key string
}

// meanings are what models mean by names.
func meanings(t *testing.T, tools []tool.Tool) map[string]owner {
	out := map[string]owner{}
	labelled, _ := tool.Label(tools)
	for _, each := range labelled {
		s := each.Spec()
		name := tool.ModelName(s)
		if !sound(name) || !sound(tool.Key(s)) {
			t.Errorf("%+v is called %q, %q", s, name, tool.Key(s))
		}
		is := owner{s.Layer, s.Server, cmp.Or(s.OwnName, s.Name), tool.Key(s)}
		for _, called := range slices.Compact([]string{name, tool.Key(s)}) {
			if was, twice := out[called]; twice {
				t.Errorf("%q means %+v and %+v", called, was, is)
			}
			out[called] = is
		}
	}
	return out
}

func TestFind(t *testing.T) {
	t.Parallel()
	tools := of(tool.Connector, "", "click", "browser.click")
	for _, name := range []string{"browser.click", tool.ModelName(tool.Spec{Layer: tool.Connector, Name: "browser.click"})} {
		if got := tool.Find(tools, name); got == nil || got.Spec().Name != "browser.click" {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := tool.Find(tools, "browser_click"); got != nil {
		t.Errorf("got %v", got)
	}
}
