package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/workspace"
)

// check reads the SKILL.md of a folder, and refuses a folder that breaks a limit.
func (f Folder) check() (Text, error) {
	main, ok := f[Main]
	if !ok {
		return Text{}, invalid("there is no %s", Main)
	}
	if len(f) > maxFiles {
		return Text{}, invalid("there are %d files; a skill has at most %d, with %s", len(f), maxFiles, Main)
	}
	total := 0
	for path, data := range f {
		if total += len(data); total > MaxBytes {
			return Text{}, tooLarge()
		}
		if err := f.checkPath(path); err != nil {
			return Text{}, err
		}
	}
	return Parse(main)
}

// checkPath refuses a path that cannot be stored beside the others.
func (f Folder) checkPath(path string) error {
	// As it is stored: with the longest name of a skill before it.
	if err := workspace.CheckPath(strings.Repeat("x", maxName) + "/" + path); err != nil {
		var refused *errs.Error
		if errors.As(err, &refused) {
			return invalid("the path %q is not allowed: %s", cut(path), refused.Message)
		}
		return err
	}
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		if _, taken := f[path[:i]]; taken {
			return invalid("%q is a file, and cannot have files below it", cut(path[:i]))
		}
	}
	return nil
}

// sum is what tells whether a file is the one that was saved.
func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
