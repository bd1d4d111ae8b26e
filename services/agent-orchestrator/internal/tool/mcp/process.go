package mcp

import (
	"context"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// grace is how long a process may take to end by itself after its input was closed, and again after SIGTERM.
const grace = time.Second

// stdio is the transport of a server that is a process of ours.
type stdio struct{ config *agentv1.McpServer }

// Connect starts the process, in a process group of its own, which is ended as a whole.
func (s stdio) Connect(ctx context.Context) (sdk.Connection, error) {
	cmd := exec.Command(s.config.GetCommand(), s.config.GetArgs()...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}
	for name, value := range s.config.GetEnv() {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	ownGroup(cmd)
	output, theirs, err := os.Pipe() // not StdoutPipe: Wait would close it before it is read
	if err != nil {
		return nil, err
	}
	cmd.Stdout = theirs
	input, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	_ = theirs.Close()
	if err != nil {
		_ = output.Close()
		return nil, &startError{err}
	}
	p := &process{WriteCloser: input, cmd: cmd, output: output, exited: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // its exit status does not matter
		close(p.exited)
	}()
	conn, err := (&sdk.IOTransport{Reader: io.NopCloser(output), Writer: p, MaxLineLength: maxAnswer}).Connect(ctx)
	return &pipeConn{Connection: conn, process: p}, err
}

// startError says that a process could not be started.
type startError struct{ cause error }

func (e *startError) Error() string { return "mcp: start a process: " + e.cause.Error() }
func (e *startError) Unwrap() error { return e.cause }

// process is a running server, as the writer to its input.
type process struct {
	io.WriteCloser // static, like all but once
	cmd            *exec.Cmd
	output         *os.File
	exited         chan struct{}

	once sync.Once
}

// Close ends the process and all that it started: it closes its input, then sends SIGTERM, then SIGKILL.
func (p *process) Close() error {
	p.once.Do(func() {
		_ = p.WriteCloser.Close() // it may be closed already, as the process has ended
		if !p.ends() {
			askGroup(p.cmd.Process)
			p.ends()
		}
		p.kill()
		<-p.exited
		_ = p.output.Close()
	})
	return nil
}

func (p *process) kill() { killGroup(p.cmd.Process) }

func (p *process) ends() bool {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// pipeConn notes whether a call was written whole: part of a line is no call.
type pipeConn struct {
	sdk.Connection
	process *process
}

func (c *pipeConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// A process that does not read would hold the writer for ever, whatever ctx says.
	stop := context.AfterFunc(ctx, c.process.kill)
	defer stop()
	f := flightOf(ctx)
	request, ok := msg.(*jsonrpc.Request)
	if !ok || !request.IsCall() {
		return c.Connection.Write(ctx, msg)
	}
	f.setSent(true)
	err := c.Connection.Write(ctx, msg)
	if err != nil {
		f.setSent(false)
	}
	return err
}
