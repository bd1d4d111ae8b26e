package desktop

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hecaton-dev/hecaton/pkg/node"
)

// maxLinks is how many links write_file follows; the kernel's own bound is as high.
const maxLinks = 40

var errTooManyLinks = errors.New("too many links")

// inside turns a path of a caller into one relative to the allowed directory. It looks at the text only; os.Root checks the
// links.
func (t *Tools) inside(path string) (string, error) {
	if filepath.IsAbs(path) {
		for _, dir := range t.dirs {
			if relative, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(relative) {
				return relative, nil
			}
		}
		return "", t.outside(path)
	}
	if !filepath.IsLocal(path) {
		return "", t.outside(path)
	}
	return path, nil
}

func (t *Tools) outside(path string) error {
	return fmt.Errorf("%q leads out of the allowed directory %q; give a path inside it", path, t.Root())
}

// explain describes a failed operation to the caller, who knows the path but not the system call.
func (t *Tools) explain(path string, err error) node.Result {
	switch {
	case t.escapes != nil && errors.Is(err, t.escapes):
		err = t.outside(path)
	case errors.Is(err, fs.ErrNotExist):
		return node.Errorf("%q does not exist; list_directory shows what there is", path)
	default:
		// The innermost error says what is wrong; those around it repeat paths.
		for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
			err = inner
		}
		return node.Errorf("%q: %v", path, err)
	}
	return node.Errorf("%v", err)
}

// openRegular opens a regular file. Opening does not wait, as it would for a FIFO without a writer.
func (t *Tools) openRegular(name string, flags int) (*os.File, fs.FileInfo, error) {
	f, err := t.root.OpenFile(name, flags|openNonblock, 0o666)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(info)
	}
	if err == nil {
		err = onlyName(f, info)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// onlyName refuses a file with a second name (a hard link), which may lie outside the allowed directory without the path
// showing it. It checks the open file, so that the file cannot be exchanged afterwards.
func onlyName(f *os.File, info fs.FileInfo) error {
	links, err := linksOf(f, info)
	if err != nil {
		return err
	}
	if links > 1 {
		return fmt.Errorf("it has %d names (hard links), of which others may lie outside of the allowed directory; a copy of it can be used", links)
	}
	return nil
}

// regular refuses what read_file and write_file cannot treat as a file.
func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errors.New("it is a directory, a file is needed; list_directory shows what is in it")
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file but a device, pipe or socket")
	}
	return nil
}

// followLinks returns the name of the file that a name stands for, which need not exist. Every step stays inside the
// allowed directory, or fails.
func (t *Tools) followLinks(name string) (string, fs.FileInfo, error) {
	for range maxLinks {
		info, err := t.root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return name, nil, nil
		}
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return name, info, err
		}
		target, err := t.root.Readlink(name)
		if err != nil {
			return "", nil, err
		}
		if filepath.IsAbs(target) {
			return "", nil, t.escapes // as os.Root has it: a link may not be absolute
		}
		// filepath.Join is not used: it would remove "a/..", which is wrong if a is a link.
		parent, _ := filepath.Split(name)
		name = parent + target
	}
	return "", nil, errTooManyLinks
}
