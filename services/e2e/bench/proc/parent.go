package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"net/rpc/jsonrpc"
	"os"
	"os/exec"
	"time"
)

// stopWithin is how long a child has to end once its parent hung up.
const stopWithin = 5 * time.Second

// Child is a process in a role.
type Child struct {
	Role string

	cmd    *exec.Cmd
	rpc    *rpc.Client
	done   chan struct{} // closed once the process is reaped
	err    error         // how it ended; set before done is closed
	killed bool          // by Kill
}

// Start starts this binary again in a role. What the child writes to its standard error goes to log.
func Start(role string, config any, log io.Writer) (*Child, error) {
	raw, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("configuration of %s: %w", role, err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &Child{Role: role, cmd: exec.Command(self, argument, role, string(raw)), done: make(chan struct{})}
	c.cmd.Stderr = log
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Not StdoutPipe, which Wait would close under the RPC client.
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.cmd.Stdout = childOut
	if err := c.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", role, err), out.Close(), childOut.Close())
	}
	_ = childOut.Close() // the child has its own
	c.rpc = jsonrpc.NewClient(pipes{out, in})
	go func() {
		defer close(c.done)
		c.err = c.cmd.Wait()
	}()
	return c, nil
}

type pipes struct {
	io.ReadCloser
	in io.WriteCloser
}

func (p pipes) Write(b []byte) (int, error) { return p.in.Write(b) }
func (p pipes) Close() error                { return errors.Join(p.in.Close(), p.ReadCloser.Close()) }

// Call calls a method of one of the child's services and waits for its answer.
func (c *Child) Call(method string, args, reply any) error {
	if err := c.rpc.Call(method, args, reply); err != nil {
		return fmt.Errorf("%s: %s: %w", c.Role, method, err)
	}
	return nil
}

// Usage returns what the child consumed so far.
func (c *Child) Usage() (u Usage, err error) {
	return u, c.Call("Process.Usage", Nothing{}, &u)
}

// Do calls a method of the service Process that answers nothing.
func (c *Child) Do(method string, args any) error {
	return c.Call("Process."+method, args, &Nothing{})
}

// Kill ends the child as SIGKILL does.
func (c *Child) Kill() {
	c.killed = true
	_ = c.cmd.Process.Kill() // fails only where it has ended already
	<-c.done
	_ = c.rpc.Close()
}

// Stop closes the connection, waits for the child's end and returns how it ended. It does nothing to a child that was
// killed.
func (c *Child) Stop() error {
	if c.killed {
		return nil
	}
	_ = c.rpc.Close() // whatever the pipe says, the process is what counts
	timeout := time.NewTimer(stopWithin)
	defer timeout.Stop()
	select {
	case <-c.done:
		if c.err != nil {
			return fmt.Errorf("%s: %w", c.Role, c.err)
		}
		return nil
	case <-timeout.C:
	}
	_ = c.cmd.Process.Kill()
	<-c.done
	return fmt.Errorf("%s was killed: still there %v after its parent hung up", c.Role, stopWithin)
}
