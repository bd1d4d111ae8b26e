package desktop

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hecaton-dev/hecaton/pkg/node"
)

// maxWrite leaves room in the frame of a call for what JSON adds.
const maxWrite = 8 << 20

// writeFile writes text to a file: path, content, append. It creates directories that are missing.
func (t *Tools) writeFile(_ context.Context, call node.Call) (node.Result, error) {
	var args struct {
		Path    string  `json:"path"`
		Content *string `json:"content"`
		Append  bool    `json:"append"`
	}
	if err := call.Bind(&args); err != nil {
		return node.Result{}, err
	}
	switch {
	case args.Path == "":
		return node.Result{}, node.InvalidParams("arguments.path is missing; give the path of a file")
	case args.Content == nil:
		return node.Result{}, node.InvalidParams("arguments.content is missing; give the text, which may be empty")
	case len(*args.Content) > maxWrite:
		return node.Result{}, node.InvalidParams("arguments.content has %d bytes, at most %d are written at once; append the rest", len(*args.Content), maxWrite)
	}
	name, err := t.inside(args.Path)
	if err != nil {
		return node.Errorf("%v", err), nil
	}
	size, err := t.write(name, []byte(*args.Content), args.Append)
	if err != nil {
		return t.explain(args.Path, err), nil
	}
	r := node.Text(fmt.Sprintf("Wrote %d bytes to %q, which has %d now", len(*args.Content), args.Path, size))
	r.Fields = map[string]any{"bytes_written": len(*args.Content), "size": size}
	return r, nil
}

// write returns the size of the file afterwards.
func (t *Tools) write(name string, content []byte, atEnd bool) (int64, error) {
	name, existing, err := t.followLinks(name)
	if err != nil {
		return 0, err
	}
	if existing != nil {
		if existing, err = t.replaceable(name, existing); err != nil {
			return 0, err
		}
	}
	// A trailing separator names a directory, also one that does not exist.
	parent, base := filepath.Split(name)
	if base == "" || base == "." || base == ".." {
		return 0, errors.New("it names a directory; give the path of a file")
	}
	if parent != "" {
		if err := t.root.MkdirAll(filepath.Clean(parent), 0o777); err != nil {
			return 0, err
		}
	}
	if atEnd {
		return t.appendTo(name, content)
	}
	return int64(len(content)), t.replace(parent, name, content, existing)
}

// replaceable refuses to replace a file that read_file would not read. If a file has a second name (a hard link), replacing
// it would change one of the two only.
func (t *Tools) replaceable(name string, existing fs.FileInfo) (fs.FileInfo, error) {
	if err := regular(existing); err != nil {
		return nil, err
	}
	f, info, err := t.openRegular(name, os.O_RDONLY)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return existing, nil // what may not be read is not written to either: its name is given to another file
	case err != nil:
		return nil, err
	}
	return info, f.Close()
}

func (t *Tools) appendTo(name string, content []byte) (int64, error) {
	f, _, err := t.openRegular(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return 0, err
	}
	_, err = f.Write(content)
	info, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// replace writes a new file next to the old one and renames it, so that readers, also after a crash, see either the old
// text or the new one. The new file has the permissions of the old one.
func (t *Tools) replace(parent, name string, content []byte, existing fs.FileInfo) error {
	mode := fs.FileMode(0o666) // less the umask
	if existing != nil {
		mode = existing.Mode().Perm()
	}
	temporary := parent + temporaryName()
	f, err := t.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil && existing != nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = t.root.Rename(temporary, name)
	}
	if err != nil {
		_ = t.root.Remove(temporary)
	}
	return err
}

func temporaryName() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return ".hecaton-" + hex.EncodeToString(b[:]) + ".tmp"
}
