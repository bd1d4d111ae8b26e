package testkit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	readyWithin = 20 * time.Second // a loaded machine with a race-enabled suite
	stopWithin  = 5 * time.Second
)

// process is a server in a child process.
type process struct {
	cmd  *exec.Cmd
	quit os.Signal     // asks it to end
	done chan struct{} // closed once the child is reaped
}

// startProcess runs a server and returns when its output says ready.
func startProcess(ready, bin string, args ...string) (*process, error) {
	cmd := exec.Command(bin, args...)
	cmd.SysProcAttr = endWithParent()
	return startCommand(ready, syscall.SIGTERM, cmd)
}

// startCommand runs a server that ends at a signal, and returns when its output says ready. Before that moment an open
// port proves nothing.
func startCommand(ready string, quit os.Signal, cmd *exec.Cmd) (*process, error) {
	log := &readyLog{mark: []byte(ready), seen: make(chan struct{})}
	bin := cmd.Path
	cmd.Stdout, cmd.Stderr = log, log
	p := &process{cmd: cmd, quit: quit, done: make(chan struct{})}

	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("%s: %w", bin, err)
	}
	timeout := time.NewTimer(readyWithin)
	defer timeout.Stop()
	select {
	case <-log.seen:
		return p, nil
	case <-p.done:
		return nil, fmt.Errorf("%s ended at once: %s", bin, log)
	case <-timeout.C:
		return nil, errors.Join(fmt.Errorf("%s is not ready after %v: %s", bin, readyWithin, log), p.stop())
	}
}

// run starts and reaps the child on one thread: the kernel ends the child when the thread that started it ends, which
// for an unlocked goroutine may be long before the process does.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.done)
	err := p.cmd.Start()
	started <- err
	if err == nil {
		_ = p.cmd.Wait() // how a stopped server exits says nothing
	}
}

func (p *process) stop() error {
	_ = p.cmd.Process.Signal(p.quit) // fails only when the child is gone already
	timeout := time.NewTimer(stopWithin)
	defer timeout.Stop()
	select {
	case <-p.done:
		return nil
	case <-timeout.C:
	}
	p.kill()
	return fmt.Errorf("%s was killed: still there %v after it was asked to end", p.cmd.Path, stopWithin)
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails only when the child is gone already
	<-p.done
}

// readyLog keeps a child's output and notices the line that says ready.
type readyLog struct {
	mark []byte
	seen chan struct{} // closed when mark has been written

	mu    sync.Mutex
	text  bytes.Buffer
	found bool
}

func (l *readyLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(b)
	if !l.found && bytes.Contains(l.text.Bytes(), l.mark) {
		l.found = true
		close(l.seen)
	}
	return len(b), nil
}

func (l *readyLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(l.text.String())
}
