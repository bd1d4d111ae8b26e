package desktop

import (
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
	// Tools are the names to offer; empty means all of them.
	Tools []string
}

// Tools are the desktop's tools on one allowed directory. Close them after the node that has them has stopped.
type Tools struct {
	// Static after Open.
	root    *os.Root
	dirs    []string // the allowed directory's absolute paths: as given, and without links
	escapes error    // what os.Root reports for a path that leads out
	screen  screen
	offered []tool
}

// tool is one row of the table of all tools.
type tool struct {
	name       string
	capability string // what a node with this tool announces, in the words of seed 000
	handle     func(*Tools) node.Handler
}

var all = []tool{
	{"read_file", "file_system", func(t *Tools) node.Handler { return t.readFile }},
	{"write_file", "file_system", func(t *Tools) node.Handler { return t.writeFile }},
	{"list_directory", "file_system", func(t *Tools) node.Handler { return t.listDirectory }},
	{"run_command", "command_execution", func(t *Tools) node.Handler { return t.runCommand }},
	{"screenshot", "screen_capture", func(t *Tools) node.Handler { return t.screenshot }},
}

// Names returns the names of all tools there are.
func Names() []string {
	var names []string
	for _, tool := range all {
		names = append(names, tool.name)
	}
	return names
}

// Open opens the allowed directory, which must exist.
func Open(dir string, o Options) (*Tools, error) {
	offered, err := choose(o.Tools)
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
	t := &Tools{root: root, dirs: []string{given}, screen: hostScreen(), offered: offered}
	if resolved, err := filepath.EvalSymlinks(given); err == nil && resolved != given {
		t.dirs = append(t.dirs, resolved)
	}
	// os does not export the error of a path that leads out, so one is provoked to compare others with.
	var escape *fs.PathError
	if _, err := root.Lstat(".."); !errors.As(err, &escape) {
		_ = root.Close()
		return nil, fmt.Errorf("the allowed directory %q does not keep paths inside", given)
	}
	t.escapes = escape.Err
	return t, nil
}

func choose(names []string) ([]tool, error) {
	if len(names) == 0 {
		return all, nil
	}
	var chosen []tool
	for _, name := range names {
		i := slices.IndexFunc(all, func(t tool) bool { return t.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no tool %q; there are %s", name, strings.Join(Names(), ", "))
		}
		if !slices.ContainsFunc(chosen, func(t tool) bool { return t.name == name }) {
			chosen = append(chosen, all[i])
		}
	}
	return chosen, nil
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
		n.Handle(tool.name, tool.handle(t))
	}
}

// Close closes the allowed directory; the tools fail from then on.
func (t *Tools) Close() error { return t.root.Close() }
