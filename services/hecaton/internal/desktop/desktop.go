package desktop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/node"
)

// Options choose what a node offers.
type Options struct {
	// Tools are the names of the tools to offer; empty means all, without run_command unless Commands is set.
	Tools []string
	// Commands offers run_command, which runs programs as the user.
	Commands bool
	// Sandbox is what commands run in.
	Sandbox SandboxOptions
	// Confirm names the calls that Ask has to allow first.
	Confirm Confirm
	// Ask returns nil if a call may run, else an error with the reason for the caller. It is given the tool and its
	// arguments, a JSON object, and returns when ctx ends. Several goroutines may call it. A nil Ask allows nothing.
	Ask func(ctx context.Context, tool string, arguments []byte) error
}

// Tools are the desktop's tools on one allowed directory. Close them after the node that has them has stopped.
type Tools struct {
	// Static after Open.
	root    *os.Root
	dirs    []string // the allowed directory's absolute paths: as given, and without links
	escapes error    // what os.Root reports for a path that leads out
	screen  screen
	offered []tool
	sandbox *sandbox // nil where commands run without
	why     string   // they do
	confirm Confirm
	ask     func(context.Context, string, []byte) error
}

// tool is one row of the table of all tools; what is told of it stands in definitions.json.
type tool struct {
	name       string
	capability string // what a node with this tool announces (docs/protocols/zeus-nodes.md#register)
	effect     effect
	handle     func(*Tools) node.Handler
}

// effect is what a tool does to the machine.
type effect int

const (
	reads effect = iota
	writes
	runs // whatever the command does
)

var all = []tool{
	{"read_file", "file_system", reads, func(t *Tools) node.Handler { return t.readFile }},
	{"write_file", "file_system", writes, func(t *Tools) node.Handler { return t.writeFile }},
	{"list_directory", "file_system", reads, func(t *Tools) node.Handler { return t.listDirectory }},
	{"run_command", "command_execution", runs, func(t *Tools) node.Handler { return t.runCommand }},
	{"screenshot", "screen_capture", reads, func(t *Tools) node.Handler { return t.screenshot }},
}

func names(tools []tool) []string {
	var names []string
	for _, tool := range tools {
		names = append(names, tool.name)
	}
	return names
}

// Open opens the allowed directory, which must exist. If run_command is offered, it also checks that the sandbox works.
func Open(dir string, o Options) (*Tools, error) {
	offered, err := choose(o)
	if err == nil {
		err = o.Confirm.check()
	}
	if err != nil {
		return nil, err
	}
	given, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("the allowed directory: %w", err)
	}
	root, err := os.OpenRoot(given)
	if err != nil {
		return nil, fmt.Errorf("the allowed directory: %w", err)
	}
	t := &Tools{root: root, dirs: []string{given}, screen: hostScreen(), offered: offered, confirm: o.Confirm, ask: o.Ask}
	if resolved, err := filepath.EvalSymlinks(given); err == nil && resolved != given {
		t.dirs = append(t.dirs, resolved)
	}
	// The os package does not export its error for a path that leads out of a root, so one is provoked to compare others
	// with it.
	var escape *fs.PathError
	if _, err := root.Lstat(".."); !errors.As(err, &escape) {
		_ = root.Close()
		return nil, fmt.Errorf("the allowed directory %q does not keep paths inside", given)
	}
	t.escapes = escape.Err
	if t.runsCommands() {
		if t.sandbox, t.why, err = openSandbox(t.dirs, o.Sandbox); err != nil {
			_ = root.Close()
			return nil, err
		}
	}
	return t, nil
}

func choose(o Options) ([]tool, error) {
	if len(o.Tools) == 0 {
		return slices.DeleteFunc(slices.Clone(all), func(t tool) bool { return t.effect == runs && !o.Commands }), nil
	}
	var chosen []tool
	for _, name := range o.Tools {
		i := slices.IndexFunc(all, func(t tool) bool { return t.name == name })
		switch {
		case i < 0:
			return nil, fmt.Errorf("there is no tool %q; there are %s", name, strings.Join(names(all), ", "))
		case all[i].effect == runs && !o.Commands:
			return nil, fmt.Errorf("the tool %q runs programs as you: it is offered only where commands are allowed", name)
		}
		if !slices.ContainsFunc(chosen, func(t tool) bool { return t.name == name }) {
			chosen = append(chosen, all[i])
		}
	}
	return chosen, nil
}

// Names returns the names of the tools that are offered.
func (t *Tools) Names() []string { return names(t.offered) }

// runsCommands reports whether run_command is offered.
func (t *Tools) runsCommands() bool {
	return slices.ContainsFunc(t.offered, func(t tool) bool { return t.effect == runs })
}

// Root returns the absolute path of the allowed directory.
func (t *Tools) Root() string { return t.dirs[0] }

// Capabilities returns what a node with these tools announces.
func (t *Tools) Capabilities() []string {
	var capabilities []string
	for _, tool := range t.offered {
		if !slices.Contains(capabilities, tool.capability) {
			capabilities = append(capabilities, tool.capability)
		}
	}
	return capabilities
}

// Register gives the tools to a node, before it runs.
func (t *Tools) Register(n *node.Node) {
	for _, tool := range t.offered {
		n.Describe(definitions[tool.name], t.confirmed(tool, tool.handle(t)))
	}
}

// Close closes the allowed directory; the tools fail from then on.
func (t *Tools) Close() error { return t.root.Close() }
