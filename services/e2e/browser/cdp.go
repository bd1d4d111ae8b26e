package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// errBrowserGone is what every command hears once Chromium has closed its end of the pipe.
var errBrowserGone = errors.New("chromium has ended")

// devtools speaks the Chrome DevTools Protocol over --remote-debugging-pipe: JSON messages, each ended by a zero byte.
// Unlike a debugging port, a pipe cannot be reached by other processes, and its end ends the browser.
type devtools struct {
	// Static after construction.
	commands io.WriteCloser
	done     chan struct{} // closed when the read loop has ended

	mu      sync.Mutex
	lastID  int64
	pending map[int64]chan message // capacity 1 each; nil once the read loop has ended
}

// message is a command's answer; an event has no id.
type message struct {
	ID     int64           `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// newDevtools starts reading answers; close ends it.
func newDevtools(commands io.WriteCloser, answers io.ReadCloser) *devtools {
	d := &devtools{commands: commands, done: make(chan struct{}), pending: make(map[int64]chan message)}
	go d.read(answers)
	return d
}

// read hands answers to those who wait for them, until the pipe ends.
func (d *devtools) read(answers io.ReadCloser) {
	defer close(d.done)
	defer answers.Close()
	r := bufio.NewReader(answers)
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			break
		}
		var m message
		if json.Unmarshal(line[:len(line)-1], &m) != nil || m.ID == 0 {
			continue
		}
		d.mu.Lock()
		waiter := d.pending[m.ID]
		delete(d.pending, m.ID)
		d.mu.Unlock()
		if waiter != nil {
			waiter <- m
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending = nil
}

// call runs one command, on the browser or with a session on a target, and decodes its result into out unless out is nil.
func (d *devtools) call(ctx context.Context, session, method string, params, out any) error {
	answer, err := d.send(session, method, params)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return fmt.Errorf("%s: %s (%d)", method, m.Error.Message, m.Error.Code)
		}
		if out == nil {
			return nil
		}
		if err := json.Unmarshal(m.Result, out); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		return nil
	case <-d.done:
		return fmt.Errorf("%s: %w", method, errBrowserGone)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
}

// send writes a command and returns the channel on which its answer will come.
func (d *devtools) send(session, method string, params any) (<-chan message, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pending == nil {
		return nil, errBrowserGone
	}
	d.lastID++
	command := map[string]any{"id": d.lastID, "method": method}
	if params != nil {
		command["params"] = params
	}
	if session != "" {
		command["sessionId"] = session
	}
	text, err := json.Marshal(command)
	if err != nil {
		return nil, err
	}
	if _, err := d.commands.Write(append(text, 0)); err != nil {
		return nil, err
	}
	answer := make(chan message, 1)
	d.pending[d.lastID] = answer
	return answer, nil
}

// close hangs up, which tells Chromium to end, and waits for it to close its side.
func (d *devtools) close() {
	_ = d.commands.Close()
	<-d.done
}
