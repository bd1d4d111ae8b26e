package skill

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/workspace"
)

// MaxUpload is the most bytes of an upload: what does not shrink, and what a zip adds to each file.
const MaxUpload = MaxBytes + 1<<20

// maxEntries bounds the directory of a zip, which may name folders beside files.
const maxEntries = 4 * maxFiles

// Folder is the files of a skill, by path.
type Folder map[string][]byte

func tooLarge() *errs.Error {
	return errs.New(errs.SkillTooLarge, "a skill has at most %d bytes in all", MaxBytes)
}

// Unzip reads the folder of a skill from a zip: one whose SKILL.md is at the top, or in the only folder at the top. The error
// is a *errs.Error. No more is unpacked than the zip says and a skill may have.
func Unzip(data []byte) (Folder, error) {
	if len(data) > MaxUpload {
		return nil, tooLarge()
	}
	if entries, ok := entriesOf(data); ok && entries > maxEntries {
		return nil, invalid("the zip has %d entries; a skill has at most %d files", entries, maxFiles)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, invalid("the file is not a zip that can be read")
	}
	files, err := listed(z.File)
	if err != nil {
		return nil, err
	}
	folder := Folder{}
	for _, f := range files {
		if folder[f.path], err = unpack(f.file); err != nil {
			return nil, err
		}
	}
	return folder, nil
}

// entriesOf reads how many entries the end of a zip announces, before anything is read of them.
func entriesOf(data []byte) (int, bool) {
	end := bytes.LastIndex(data, []byte("PK\x05\x06"))
	if end < 0 || end+12 > len(data) {
		return 0, false
	}
	return int(data[end+10]) | int(data[end+11])<<8, true
}

type zipped struct {
	path string
	file *zip.File
}

// listed checks the directory of a zip, and returns its files with their paths in the skill's folder.
func listed(entries []*zip.File) ([]zipped, error) {
	var files []zipped
	var total uint64
	seen := map[string]bool{}
	if len(entries) > maxEntries {
		return nil, invalid("the zip has %d entries; a skill has at most %d files", len(entries), maxFiles)
	}
	for _, f := range entries {
		mode := f.Mode()
		name := f.Name
		switch {
		case mode&fs.ModeSymlink != 0 || mode.Type()&^fs.ModeDir != 0:
			return nil, invalid("%q is a link or no file: a skill has only files", cut(name))
		case mode.IsDir() || strings.HasSuffix(name, "/"):
			if err := leaves(strings.TrimSuffix(name, "/")); err != nil {
				return nil, err
			}
			continue
		}
		if err := leaves(name); err != nil {
			return nil, err
		}
		if noise(name) {
			continue
		}
		if seen[name] {
			return nil, invalid("the zip has %q twice", cut(name))
		}
		seen[name] = true
		if total += f.UncompressedSize64; f.UncompressedSize64 > MaxBytes || total > MaxBytes {
			return nil, tooLarge()
		}
		files = append(files, zipped{name, f})
	}
	return inOneFolder(files)
}

// leaves refuses a path that is not inside its folder.
func leaves(name string) error {
	if err := workspace.CheckPath(name); err != nil {
		var refused *errs.Error
		if errors.As(err, &refused) {
			return invalid("the zip has a path that is not allowed, %q: %s", cut(name), refused.Message)
		}
		return err
	}
	if len(name) > 1 && name[1] == ':' {
		return invalid("the zip has a path with a drive, %q", cut(name))
	}
	return nil
}

// noise reports whether a file is what systems put beside others.
func noise(name string) bool {
	return strings.HasPrefix(name, "__MACOSX/") || slices.Contains([]string{".DS_Store", "Thumbs.db", "desktop.ini"}, path.Base(name))
}

// inOneFolder takes the skill's own folder off the paths.
func inOneFolder(files []zipped) ([]zipped, error) {
	if len(files) > maxFiles {
		return nil, invalid("the zip has %d files; a skill has at most %d", len(files), maxFiles)
	}
	atTop := slices.ContainsFunc(files, func(f zipped) bool { return f.path == Main })
	if atTop {
		return files, nil
	}
	root := ""
	for i := range files {
		top, rest, nested := strings.Cut(files[i].path, "/")
		if !nested || root != "" && top != root {
			return nil, invalid("the zip must have one folder with a %s in it", Main)
		}
		root, files[i].path = top, rest
	}
	if !slices.ContainsFunc(files, func(f zipped) bool { return f.path == Main }) {
		return nil, invalid("the zip has no %s in its folder", Main)
	}
	return files, nil
}

// unpack reads one file, and not a byte more than its entry says.
func unpack(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, invalid("%q cannot be unpacked", cut(f.Name))
	}
	defer r.Close()
	said := int64(f.UncompressedSize64)
	data, err := io.ReadAll(io.LimitReader(r, said+1))
	switch {
	case int64(len(data)) > said:
		return nil, invalid("%q has more bytes than the zip says", cut(f.Name))
	case err != nil || int64(len(data)) < said:
		return nil, invalid("%q cannot be unpacked: it is broken, or has another length than the zip says", cut(f.Name))
	}
	return data, nil
}
