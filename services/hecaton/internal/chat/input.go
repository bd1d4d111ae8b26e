package chat

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
)

// ErrInterrupted says that Ctrl-C came instead of a line.
var ErrInterrupted = errors.New("interrupted")

// Input is what a person types, or what a script has instead.
type Input struct {
	// Interactive says that a person sees what is asked.
	Interactive bool

	lines  chan string // closed at the end of the input
	closed chan struct{}
}

// maxLine bounds what is typed in one line.
const maxLine = 1 << 20

// NewInput reads lines from in, at most one ahead of what is asked for. A blocked reader cannot be stopped: its goroutine
// ends with the first line after Close.
func NewInput(in io.Reader, interactive bool) *Input {
	i := &Input{Interactive: interactive, lines: make(chan string), closed: make(chan struct{})}
	go func() {
		defer close(i.lines)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, maxLine)
		for scanner.Scan() {
			select {
			case i.lines <- strings.TrimSpace(scanner.Text()):
			case <-i.closed:
				return
			}
		}
	}()
	return i
}

// Close ends the reading; the lines that are left are lost.
func (i *Input) Close() { close(i.closed) }

// Line returns the next line; io.EOF at the end, or ctx's error.
func (i *Input) Line(ctx context.Context) (string, error) { return i.line(ctx, nil) }

// line returns the next line; io.EOF at the end of the input, ErrInterrupted if interrupts has something first, or ctx's
// error.
func (i *Input) line(ctx context.Context, interrupts <-chan struct{}) (string, error) {
	select {
	case line, ok := <-i.lines:
		if !ok {
			return "", io.EOF
		}
		return line, nil
	case <-interrupts:
		return "", ErrInterrupted
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
