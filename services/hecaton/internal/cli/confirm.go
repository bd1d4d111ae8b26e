package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/chat"
)

const (
	// maxShown is how much of a call a person is asked to read; a longer call is refused without being shown.
	maxShown = 8 << 10
	// maxShownText is how much is shown of a single text in the call; the rest of it is content, such as that of a file.
	maxShownText = 1 << 10
)

// confirmer asks the person at the terminal whether a call may run, one call at a time.
type confirmer struct {
	out  io.Writer
	turn chan struct{} // holds one token; who has it asks

	mu      sync.Mutex
	asked   chan<- string // where the next line goes; nil while nothing is asked
	nobody  error         // why nobody can be asked any more
	leaving chan struct{} // closed with nobody
}

var (
	errNoTerminal = errors.New("there is no terminal at the node where a person could allow it")
	errSaidNo     = errors.New("the person at the node said no. Do not try this call again")
)

// newConfirmer reads lines from in until it ends; lines that arrive while no question is open are dropped. A blocked reader
// cannot be stopped: its goroutine ends with the input.
func newConfirmer(e Env) *confirmer {
	c := &confirmer{out: e.Stdout, turn: make(chan struct{}, 1), leaving: make(chan struct{})}
	if !e.Interactive {
		c.nobody = errNoTerminal
		close(c.leaving)
		return c
	}
	go c.read(e.Stdin)
	return c
}

func (c *confirmer) read(in io.Reader) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		c.mu.Lock()
		if c.asked != nil {
			c.asked <- strings.ToLower(strings.TrimSpace(lines.Text())) // it has room for one
			c.asked = nil
		}
		c.mu.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nobody = errNoTerminal
	close(c.leaving)
}

// ask returns nil if the person says yes, else an error for the caller of the tool. If ctx ends first, it withdraws the
// question.
func (c *confirmer) ask(ctx context.Context, tool string, arguments []byte) error {
	shown, err := showCall(tool, arguments)
	if err != nil {
		return err
	}
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	answer := make(chan string, 1)
	c.mu.Lock()
	nobody := c.nobody
	if nobody == nil {
		fmt.Fprintf(c.out, "\n%s\nMay it run? [y/N] ", shown)
		c.asked = answer
	}
	c.mu.Unlock()
	if nobody != nil {
		return nobody
	}
	select {
	case line := <-answer:
		if line == "y" || line == "yes" {
			return nil
		}
		return errSaidNo
	case <-c.leaving:
		return errNoTerminal
	case <-ctx.Done():
		c.mu.Lock()
		c.asked = nil
		c.mu.Unlock()
		fmt.Fprintf(c.out, "\ntaken back: %s\n", chat.Safe(context.Cause(ctx).Error()))
		return context.Cause(ctx)
	}
}

// showCall returns a call as one line of JSON without control characters and without needless escapes. The error says that
// it is too long to be read.
func showCall(tool string, arguments []byte) (string, error) {
	var object map[string]any
	decoder := json.NewDecoder(strings.NewReader(string(arguments)))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil {
		return "", fmt.Errorf("its arguments cannot be shown: %w", err)
	}
	if tool != "run_command" {
		for name, value := range object {
			if text, ok := value.(string); ok && len(text) > maxShownText {
				object[name] = strings.ToValidUTF8(text[:maxShownText], "") + fmt.Sprintf("… [%d bytes more]", len(text)-maxShownText)
			}
		}
	}
	var line strings.Builder
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(object); err != nil {
		return "", fmt.Errorf("its arguments cannot be shown: %w", err)
	}
	if line.Len() > maxShown {
		return "", fmt.Errorf("its arguments have %d bytes, too many for a person to read", len(arguments))
	}
	return tool + " " + chat.Safe(strings.TrimSuffix(line.String(), "\n")), nil
}
