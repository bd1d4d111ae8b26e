package desktop

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/node"
)

// calls are one of each tool that can be confirmed here.
var calls = map[string]string{
	"read_file": `{"path":"a"}`, "write_file": `{"path":"b","content":"x"}`, "list_directory": `{}`, "run_command": `{"command":"touch c"}`,
}

// handler is a tool as a node gets it.
func handler(t *testing.T, tools *Tools, name string) node.Handler {
	t.Helper()
	i := slices.IndexFunc(tools.offered, func(t tool) bool { return t.name == name })
	return tools.confirmed(tools.offered[i], tools.offered[i].handle(tools))
}

func TestWhatIsConfirmed(t *testing.T) {
	t.Parallel()
	for confirm, asks := range map[Confirm][]string{
		"": nil, ConfirmNone: nil, ConfirmCommands: {"run_command"}, ConfirmWrites: {"run_command", "write_file"},
		ConfirmAll: {"list_directory", "read_file", "run_command", "write_file"},
	} {
		t.Run("asks about "+string(confirm), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, filepath.Join(dir, "a"), "")
			var asked []string
			tools := openAs(t, dir, Options{
				Commands: true, Sandbox: SandboxOptions{Mode: SandboxOff}, Confirm: confirm,
				Ask: func(_ context.Context, tool string, arguments []byte) error {
					asked = append(asked, tool)
					if string(arguments) != calls[tool] {
						t.Errorf("%s is asked about with %s", tool, arguments)
					}
					return errors.New("no")
				},
			})
			for name, arguments := range calls {
				r := use(t, handler(t, tools, name), arguments)
				if wanted := slices.Contains(asks, name); r.IsError != wanted || wanted && text(r) != name+" was not run: no" {
					t.Errorf("%s: %q", name, text(r))
				}
			}
			if slices.Sort(asked); !slices.Equal(asked, asks) {
				t.Errorf("asked about %v", asked)
			}
			for name, tool := range map[string]string{"b": "write_file", "c": "run_command"} {
				if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) == slices.Contains(asks, tool) {
					t.Errorf("%s: %v", tool, err)
				}
			}
		})
	}
	if _, err := Open(t.TempDir(), Options{Confirm: "some"}); err == nil || !strings.Contains(err.Error(), `"some", must be none, commands, writes or all`) {
		t.Error(err)
	}
}

// A yes that comes after the call has ended runs nothing; neither does a missing answer.
func TestALateYes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	o := Options{Confirm: ConfirmAll, Ask: func(context.Context, string, []byte) error { cancel(); return nil }}
	_, err := handler(t, openAs(t, dir, o), "write_file")(ctx, node.Call{Arguments: json.RawMessage(calls["write_file"])})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	bad(t, handler(t, openAs(t, dir, Options{Confirm: ConfirmAll}), "write_file"), calls["write_file"], "nobody is at the node")
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
