package pgserver

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// debian is where Debian has the programs of each version: in <version>/bin.
const debian = "/usr/lib/postgresql"

// Ready is what a server says on standard error when it takes connections.
const Ready = "ready to accept connections"

// Program finds one of PostgreSQL's programs. The error is [exec.ErrNotFound], or of a TEST_POSTGRES_BIN that has no such
// program.
func Program(name string) (string, error) {
	if dir := os.Getenv("TEST_POSTGRES_BIN"); dir != "" {
		return exec.LookPath(filepath.Join(dir, name))
	}
	if bin, err := exec.LookPath(name); err == nil {
		return bin, nil
	}
	return newest(debian, name)
}

// newest finds a program of the highest version below root.
func newest(root, name string) (string, error) {
	found, _ := filepath.Glob(filepath.Join(root, "*", "bin", name)) // the pattern is well-formed
	if len(found) == 0 {
		return "", exec.ErrNotFound
	}
	version := func(path string) float64 { // 9.6 was one too
		n, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(filepath.Dir(path))), 64) // what is no number comes last
		return n
	}
	return slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(version(a), version(b)) }), nil
}

// Installed reports whether this machine has what a server needs.
func Installed() bool {
	_, server := Program("postgres")
	_, initdb := Program("initdb")
	return server == nil && initdb == nil
}

// Create makes the data of a server in dir: empty, with a superuser postgres whom everybody may be. Flags are initdb's.
func Create(dir string, flags ...string) error {
	args := []string{"-D", data(dir), "-U", "postgres", "-A", "trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"}
	initdb, err := command(dir, "initdb", append(args, flags...))
	if err != nil {
		return err
	}
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", initdb.Path, err, out)
	}
	return nil
}

// Command returns the server on the data of [Create], not started yet, which listens on host alone. It ends in order at
// an [os.Interrupt]. Settings are those of postgresql.conf, as name=value.
func Command(dir, host string, port int, settings ...string) (*exec.Cmd, error) {
	args := []string{"-D", data(dir), "-p", strconv.Itoa(port)}
	for _, setting := range append([]string{"listen_addresses=" + host, "unix_socket_directories=", "lc_messages=C"}, settings...) {
		args = append(args, "-c", setting)
	}
	return command(dir, "postgres", args)
}

// Own copies a file into dir, where only the server may read it, as it wants of its certificate's key.
func Own(dir, file string) (string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	own := filepath.Join(dir, filepath.Base(file))
	if err := os.WriteFile(own, raw, 0o600); err != nil {
		return "", err
	}
	return own, chown(own)
}

func data(dir string) string { return filepath.Join(dir, "data") }

// command is a program that runs in dir.
func command(dir, name string, args []string) (*exec.Cmd, error) {
	bin, err := Program(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	program := exec.Command(bin, args...)
	program.Dir = dir
	return program, asServer(program)
}
