package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/seclude"
)

const (
	tokenVar = "HECATON_TOKEN"
	// tokenFD is the variable with the number of the open file from which a restarted node reads its token.
	tokenFD = "HECATON_TOKEN_FD"
)

// seclude keeps the token from the commands that the node runs: they cannot read it from its environment, its command line
// or its memory. If the token came by one of the first two, the process restarts itself without it.
func (c *nodeConfig) seclude(e Env) error {
	if !e.Own {
		return nil
	}
	if err := seclude.Memory(); err != nil {
		return fmt.Errorf("the node's memory cannot be closed to other programs: %w", err)
	}
	received, err := seclude.Received(e.Environ, tokenFD)
	if err != nil {
		return err
	}
	if received != "" {
		return c.Token.UnmarshalText([]byte(received))
	}
	args := withoutFlag(e.Args, "token")
	environ := slices.DeleteFunc(slices.Clone(e.Environ), func(v string) bool { return strings.HasPrefix(v, tokenVar+"=") })
	if len(args) == len(e.Args) && len(environ) == len(e.Environ) {
		return nil // it came from a file, or there is none
	}
	token, err := c.Token.Get()
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err == nil {
		err = seclude.Restart(program, append([]string{e.program(), "node"}, args...), environ, tokenFD, token.Reveal())
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return fmt.Errorf("the token cannot be kept from programs that the node starts; give it by %s_FILE: %w", tokenVar, err)
}

// apart refuses a token file that lies in the directory whose files the node's tools can read.
func apart(dir, file string) error {
	root, err := realPath(dir)
	if err != nil {
		return err
	}
	if file, err = realPath(file); err != nil {
		return err
	}
	if relative, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(relative) {
		return fmt.Errorf("the token's file %s lies in %s, whose files the node's tools can read; keep it elsewhere", file, root)
	}
	return nil
}

func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// withoutFlag returns arguments without a flag and its value.
func withoutFlag(args []string, name string) (rest []string) {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			return append(rest, args[i:]...)
		case arg == "-"+name || arg == "--"+name:
			i++ // its value
		case strings.HasPrefix(arg, "-"+name+"=") || strings.HasPrefix(arg, "--"+name+"="):
		default:
			rest = append(rest, arg)
		}
	}
	return rest
}
