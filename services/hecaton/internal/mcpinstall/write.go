package mcpinstall

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxFile bounds a configuration, in bytes.
const maxFile = 4 << 20

// private is the mode of a new file: it may get secrets later, by other hands.
const private fs.FileMode = 0o600

// Write puts the entry into a file, which is made where it is missing, with its directory. changed is false where the file said the
// same before.
func (c Client) Write(file, name string, e Entry) (changed bool, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
	}()
	base, rest := ".", file
	if filepath.IsAbs(file) {
		base, rest = filepath.Split(file)
		if err := os.MkdirAll(base, 0o700); err != nil {
			return false, err
		}
	}
	// Whatever links there are below, nothing outside is touched.
	root, err := os.OpenRoot(base)
	if err != nil {
		return false, err
	}
	defer root.Close()
	if dir := filepath.Dir(rest); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return false, err
		}
	}
	before, mode, err := readFile(root, rest)
	if err != nil {
		return false, err
	}
	if e.secret() && mode&0o077 != 0 {
		return false, fmt.Errorf("others may read it (mode %v), and a token is a secret: chmod 600 it first, or leave out --http", mode)
	}
	after, err := c.Merge(before, name, e)
	if err != nil || string(before) == string(after) {
		return false, err
	}
	return true, replace(root, rest, after, mode)
}

// readFile reads a file that is there, and nothing where there is none.
func readFile(root *os.Root, name string) (text []byte, mode fs.FileMode, err error) {
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, private, nil
	case err != nil:
		return nil, 0, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, 0, errors.New("it is a link, which is not followed: name the file that is meant with --file")
	case !info.Mode().IsRegular():
		return nil, 0, errors.New("it is no file")
	case info.Size() > maxFile:
		return nil, 0, fmt.Errorf("it has more than %d bytes", maxFile)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	text, err = io.ReadAll(io.LimitReader(f, maxFile))
	return text, info.Mode().Perm(), err
}

// replace writes a file beside, and puts it in the place of the old one.
func replace(root *os.Root, name string, text []byte, mode fs.FileMode) error {
	beside := name + "." + rand.Text()[:8] + ".tmp"
	f, err := root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, private)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = root.Rename(beside, name)
	}
	if err != nil {
		return errors.Join(err, root.Remove(beside))
	}
	return nil
}
