package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// postgresProgram finds one of PostgreSQL's programs: on the PATH, or where Debian has them.
func postgresProgram(name string) (string, error) {
	if bin, err := exec.LookPath(name); err == nil {
		return bin, nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name) // the pattern is well-formed
	if len(found) == 0 {
		return "", exec.ErrNotFound
	}
	return slices.Max(found), nil
}

// havePostgres says whether there is a PostgreSQL on this machine, and somebody as whom it runs.
func havePostgres() bool {
	_, server := postgresProgram("postgres")
	_, initdb := postgresProgram("initdb")
	return server == nil && initdb == nil && canPostgres
}

// playPostgres runs a PostgreSQL with its own defaults, on data that goes with it: a commit waits for the disk.
func playPostgres() (a Addresses, stop func() error, err error) {
	dir, err := os.MkdirTemp("", "hecaton-bench-")
	if err != nil {
		return a, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	data := filepath.Join(dir, "data")
	initdb, err := postgresCommand(dir, "initdb", "-D", data, "-U", "postgres", "-A", "trust", "--encoding=UTF8", "--locale=C", "--no-sync")
	if err != nil {
		return a, nil, err
	}
	if out, err := initdb.CombinedOutput(); err != nil {
		return a, nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return a, nil, err
	}
	server, err := postgresCommand(dir, "postgres", "-D", data, "-p", strconv.Itoa(port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "lc_messages=C")
	if err != nil {
		return a, nil, err
	}
	said, err := server.StderrPipe()
	if err != nil {
		return a, nil, err
	}
	if err := server.Start(); err != nil {
		return a, nil, err
	}
	stop = func() error {
		_ = server.Process.Signal(os.Interrupt) // fails only where it has ended already
		_ = server.Wait()                       // stopped, as asked
		return os.RemoveAll(dir)
	}
	if err := awaitPostgres(said); err != nil {
		return a, nil, errors.Join(err, stop())
	}
	return Addresses{URL: fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)}, stop, nil
}

// awaitPostgres reads what the server says until it is ready; what it says afterwards is dropped.
func awaitPostgres(said io.Reader) error {
	lines := bufio.NewScanner(said)
	var last string
	for lines.Scan() {
		last = lines.Text()
		if strings.Contains(last, "ready to accept connections") {
			go func() { _, _ = io.Copy(io.Discard, said) }()
			return nil
		}
	}
	return fmt.Errorf("postgres ended: %s", last)
}

// freePort returns one that was free a moment ago.
func freePort() (int, error) {
	ln, err := net.Listen("tcp", loopback)
	if err != nil {
		return 0, err
	}
	return ln.Addr().(*net.TCPAddr).Port, ln.Close()
}
