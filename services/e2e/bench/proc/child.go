package proc

import (
	"fmt"
	"io"
	"net/rpc"
	"net/rpc/jsonrpc"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"time"
)

// argument marks the command line of a child; a role and its configuration follow.
const argument = "role"

// Role returns the role and the configuration that a parent gave this process; ok is false in a parent.
func Role() (role string, config []byte, ok bool) {
	if len(os.Args) != 4 || os.Args[1] != argument {
		return "", nil, false
	}
	return os.Args[2], []byte(os.Args[3]), true
}

// Serve answers the parent until the parent closes the connection. services are registered under their names, with the
// rules of net/rpc.
func Serve(services map[string]any) error {
	return serve(stdio{os.Stdin, os.Stdout}, services)
}

func serve(conn io.ReadWriteCloser, services map[string]any) error {
	s := rpc.NewServer()
	if err := s.RegisterName("Process", &process{}); err != nil {
		return fmt.Errorf("service Process: %w", err)
	}
	for name, service := range services {
		if err := s.RegisterName(name, service); err != nil {
			return fmt.Errorf("service %s: %w", name, err)
		}
	}
	s.ServeCodec(jsonrpc.NewServerCodec(conn))
	return nil
}

type stdio struct {
	io.ReadCloser
	out io.WriteCloser
}

func (s stdio) Write(p []byte) (int, error) { return s.out.Write(p) }
func (s stdio) Close() error                { return s.out.Close() }

// Nothing is the argument or answer of a method without one.
type Nothing struct{}

// Usage is what a process consumed so far.
type Usage struct {
	// CPU is user and system time together.
	CPU time.Duration
	// RSS is the resident memory now, in bytes; 0 where the system does not say (outside of Linux).
	RSS int64
	// Heap is what the garbage collector found live at its last cycle plus what was allocated since, in bytes.
	Heap int64
	// Stacks is the memory of goroutine stacks, in bytes.
	Stacks int64
}

// process is the service that every child has.
type process struct{ profile *os.File }

// Usage tells what the process consumed.
func (*process) Usage(_ Nothing, u *Usage) (err error) {
	*u, err = Self()
	return err
}

// Release collects garbage and gives free memory back to the system.
func (*process) Release(_ Nothing, _ *Nothing) error {
	debug.FreeOSMemory()
	return nil
}

// StartProfile begins a CPU profile that is written to path.
func (p *process) StartProfile(path string, _ *Nothing) (err error) {
	if p.profile, err = os.Create(path); err != nil {
		return err
	}
	return pprof.StartCPUProfile(p.profile)
}

// StopProfile ends it.
func (p *process) StopProfile(_ Nothing, _ *Nothing) error {
	pprof.StopCPUProfile()
	return p.profile.Close()
}

// HeapProfile writes a profile of what is live to path.
func (*process) HeapProfile(path string, _ *Nothing) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := pprof.Lookup("heap").WriteTo(f, 0); err != nil {
		_ = f.Close() // the first error says more
		return err
	}
	return f.Close()
}
