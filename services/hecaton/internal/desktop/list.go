package desktop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/node"
)

// maxEntries limits a listing so that it fits into a frame even if each of its names has 255 bytes, all of which are
// escaped, and appears twice.
const maxEntries = 1000

// entry is one file of a listing.
type entry struct {
	Name     string    `json:"name"`
	Type     string    `json:"type"` // file, directory, symlink or other
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
}

// listDirectory lists a directory, by default the allowed one, sorted by name.
func (t *Tools) listDirectory(_ context.Context, call node.Call) (node.Result, error) {
	var args struct {
		Path string `json:"path"`
	}
	if err := call.Bind(&args); err != nil {
		return node.Result{}, err
	}
	if args.Path == "" {
		args.Path = "."
	}
	name, err := t.inside(args.Path)
	if err != nil {
		return node.Errorf("%v", err), nil
	}
	entries, truncated, err := t.list(name)
	if err != nil {
		return t.explain(args.Path, err), nil
	}
	r := node.Text(listing(entries, truncated))
	r.Fields = map[string]any{"entries": entries, "truncated": truncated}
	return r, nil
}

func (t *Tools) list(name string) ([]entry, bool, error) {
	info, err := t.root.Stat(name)
	if err != nil {
		return nil, false, err
	}
	if !info.IsDir() {
		return nil, false, errors.New("it is not a directory; read_file reads files")
	}
	dir, err := t.root.Open(name)
	if err != nil {
		return nil, false, err
	}
	defer dir.Close()
	found, err := dir.ReadDir(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	truncated := len(found) > maxEntries
	entries := []entry{}
	for _, file := range found[:min(len(found), maxEntries)] {
		// The root is asked and not the entry, whose Info uses a path that may lead elsewhere by now.
		info, err := t.root.Lstat(filepath.Join(name, file.Name()))
		if err != nil {
			continue // gone since it was listed
		}
		entries = append(entries, entry{file.Name(), typeName(info.Mode()), info.Size(), info.ModTime().UTC().Truncate(time.Second)})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.Name, b.Name) })
	return entries, truncated, nil
}

func typeName(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "directory"
	case mode.IsRegular():
		return "file"
	case mode&fs.ModeSymlink != 0:
		return "symlink"
	}
	return "other"
}

// listing is the text of a listing, one entry a line; a name that would break its line is quoted.
func listing(entries []entry, truncated bool) string {
	if len(entries) == 0 {
		return "(empty)"
	}
	var b strings.Builder
	for _, e := range entries {
		name := e.Name
		if quoted := strconv.Quote(name); quoted[1:len(quoted)-1] != name {
			name = quoted
		}
		switch e.Type {
		case "file":
			fmt.Fprintf(&b, "%s (%d bytes)\n", name, e.Size)
		case "directory":
			fmt.Fprintf(&b, "%s/\n", name)
		default:
			fmt.Fprintf(&b, "%s (%s)\n", name, e.Type)
		}
	}
	if truncated {
		fmt.Fprintf(&b, "[only %d entries are shown; there are more]\n", len(entries))
	}
	return b.String()
}
