package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/testkit/pgserver"
)

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
	if err := pgserver.Create(dir); err != nil {
		return a, nil, err
	}
	port, err := freePort()
	if err != nil {
		return a, nil, err
	}
	server, err := pgserver.Command(dir, "127.0.0.1", port)
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
		if strings.Contains(last, pgserver.Ready) {
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
