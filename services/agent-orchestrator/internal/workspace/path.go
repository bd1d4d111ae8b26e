package workspace

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// Limits of a path, in bytes: S3's limit for a key, and that of file systems for a name.
const (
	maxPath = 1024
	maxName = 255
)

// CheckPath refuses a path that is not relative, clean and of reasonable length. The error is a *errs.Error.
func CheckPath(path string) error {
	if path == "" {
		return errs.New(errs.InvalidArgument, "path is empty")
	}
	return check("path", path)
}

// checkPrefix is CheckPath for the beginning of a path, which may end within a name.
func checkPrefix(prefix string) error {
	if prefix == "." || strings.HasSuffix(prefix, "/.") {
		prefix += "x" // the beginning of a name such as .profile
	}
	if prefix == "" {
		return nil
	}
	return check("prefix", strings.TrimSuffix(prefix, "/"))
}

func check(field, path string) error {
	wrong := func(format string, args ...any) error {
		return errs.New(errs.InvalidArgument, field+" "+format, args...)
	}
	switch {
	case len(path) > maxPath:
		return wrong("has %d bytes, at most %d are allowed", len(path), maxPath)
	case !utf8.ValidString(path):
		return wrong("is not valid UTF-8")
	case strings.HasPrefix(path, "/"):
		return wrong("begins with /; paths are relative, such as uploads/a.txt")
	case strings.HasSuffix(path, "/"):
		return wrong("ends with /; it must name a file")
	case strings.Contains(path, `\`):
		return wrong(`holds \; directories are divided by /`)
	}
	for _, r := range path {
		if unicode.IsControl(r) {
			return wrong("holds the control character %U", r)
		}
	}
	for name := range strings.SplitSeq(path, "/") {
		switch {
		case name == "":
			return wrong("holds an empty name (//)")
		case name == "." || name == "..":
			return wrong("holds %q, which is not a file name", name)
		case len(name) > maxName:
			return wrong("holds a name of %d bytes, at most %d are allowed", len(name), maxName)
		}
	}
	return nil
}
