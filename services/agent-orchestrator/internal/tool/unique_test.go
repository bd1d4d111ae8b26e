package tool_test

import (
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

func TestUnique(t *testing.T) {
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
		"a node and a built-in tool": {
			[][]tool.Tool{of(tool.Connector, "", "task", "click"), of(tool.Builtin, "", "task")},
			[]string{"click", "task"}, 1,
		},
		"a qualified name that is taken": {
			[][]tool.Tool{of(tool.MCP, "a", "find"), of(tool.MCP, "b", "find"), of(tool.Connector, "", "a__find")},
			[]string{"a__find", "b__find"}, 1,
		},
		"one that an MCP server has": {
			[][]tool.Tool{of(tool.MCP, "a", "find"), of(tool.MCP, "b", "find"), of(tool.MCP, "c", "a__find")},
			[]string{"a__find", "b__find"}, 1,
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
			for range 2 {
				out, problems := tool.Unique(all)
				got := names(out)
				slices.Sort(got)
				if !slices.Equal(got, tt.want) || len(problems) != tt.problems {
					t.Errorf("got %v, %q", got, problems)
				}
				slices.Reverse(all) // the order makes no difference
			}
		})
	}
}

func TestUniqueKeepsWhatTheToolIs(t *testing.T) {
	t.Parallel()
	out, problems := tool.Unique(append(of(tool.MCP, "a", "click"), placed{plain{Name: "click", Layer: tool.Connector}}))
	if len(out) != 2 || len(problems) != 0 {
		t.Fatalf("%v, %v", names(out), problems)
	}
	if _, ok := out[0].(tool.Placed); !ok {
		t.Error("a node's tool is no longer placed")
	}
	if r, err := out[1].Call(t.Context(), tool.Invocation{}); err != nil || r.Text != "ran click" {
		t.Errorf("a server's tool is called by another name: %v, %v", r, err)
	}
}

func TestModelName(t *testing.T) {
	t.Parallel()
	for _, same := range []string{"click", "a__find", "A-1_z", strings.Repeat("x", 64)} {
		if got := tool.ModelName(same); got != same {
			t.Errorf("%q became %q", same, got)
		}
	}
	seen := map[string]string{}
	for _, name := range []string{"browser.click", "browser click", "点击", "点选", "", "\xff", strings.Repeat("x", 65), strings.Repeat("x", 66)} {
		got := tool.ModelName(name)
		if len(got) == 0 || len(got) > 64 || strings.Trim(got, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			t.Errorf("%q became %q", name, got)
		}
		if other, twice := seen[got]; twice {
			t.Errorf("%q and %q are both %q", name, other, got)
		}
		seen[got] = name
		if again := tool.ModelName(got); again != got {
			t.Errorf("%q became %q", got, again)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	tools := of(tool.Connector, "", "click", "browser.click")
	for _, name := range []string{"browser.click", tool.ModelName("browser.click")} {
		if got := tool.Find(tools, name); got == nil || got.Spec().Name != "browser.click" {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := tool.Find(tools, "browser_click"); got != nil {
		t.Errorf("got %v", got)
	}
}
