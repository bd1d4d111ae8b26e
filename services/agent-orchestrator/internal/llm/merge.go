package llm

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

const (
	maxAnswer = 4 << 20
	maxCalls  = 1024
)

var (
	errMalformed = &Error{Code: ModelProtocol, Message: "the endpoint sent something that is not understood"}
	errCut       = &Error{Code: ModelUnavailable, Message: "the answer was cut off", again: true}
	errTooLong   = &Error{Code: ModelProtocol, Message: "the answer has more than 4 MiB"}
	errTooMany   = &Error{Code: ModelProtocol, Message: "the answer has more than 1,024 tool calls"}
)

// callersError is an error of the caller's own function. It is returned unchanged.
type callersError struct{ error }

// merger puts an answer together from its pieces, and passes each piece to the caller.
type merger struct {
	on func(Delta) error

	text    strings.Builder
	calls   []*call // in the order in which they began
	size    int     // of all text so far
	finish  string
	usage   Usage
	started bool // the caller has got a piece
	waits   bool // the caller has got a piece since it was last told of a pause
}

// call is a tool call that is being written.
type call struct {
	index    int // the endpoint's
	id, name string
	args     strings.Builder
	told     int // how many bytes of args the caller has got
	known    bool
}

// events reads a streamed answer.
func (m *merger) events(b *body) error {
	l := newLines(b)
	b.before = m.pause
	for {
		document, whole, err := l.next()
		switch {
		case err == nil:
			err = m.document(document)
			if errors.Is(err, errMalformed) && !whole {
				err = io.EOF
			}
		case errors.Is(err, errDone):
			err = io.EOF
		}
		var callers callersError
		switch {
		case err == nil:
			if m.finish != "" {
				b.watch.limit(lingering)
			}
		case errors.As(err, &callers):
			return err
		case m.finish != "":
			return nil // the answer is whole, even if the rest of the stream failed
		case errors.Is(err, io.EOF):
			return errCut
		default:
			return err
		}
	}
}

// whole reads an answer that is not streamed, or an error that came with status 200.
func (m *merger) whole(b *body) error {
	document, err := io.ReadAll(io.LimitReader(b, maxWholeBody))
	if err != nil {
		return err
	}
	if err := m.document(document); err != nil {
		return err
	}
	if m.finish == "" {
		return errMalformed
	}
	return nil
}

// document merges one document into the answer.
func (m *merger) document(b []byte) error {
	if text, ok := justText(b); ok {
		return m.say(string(text))
	}
	var c chunk
	if json.Unmarshal(b, &c) != nil {
		return errMalformed
	}
	if c.failed() {
		return reported(b)
	}
	if c.Usage != nil {
		m.usage = Usage{Prompt: c.Usage.Prompt, Completion: c.Usage.Completion}
	}
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue // a second answer to the same request, which was not asked for
		}
		p := &choice.Delta
		if choice.Message != nil {
			p = choice.Message
			m.finish = "stop" // nothing more can come
		}
		if err := m.piece(p); err != nil {
			return err
		}
		if choice.Finish != "" {
			m.finish = choice.Finish
		}
	}
	return nil
}

func (m *merger) piece(p *piece) error {
	if text := string(p.Content) + p.Refusal; text != "" {
		if err := m.say(text); err != nil {
			return err
		}
	}
	for i := range p.Calls {
		if err := m.callPiece(&p.Calls[i]); err != nil {
			return err
		}
	}
	return nil
}

func (m *merger) say(text string) error {
	if err := m.grow(len(text)); err != nil {
		return err
	}
	m.text.WriteString(text)
	return m.hand(Delta{Text: text})
}

func (m *merger) callPiece(p *callPiece) error {
	at := m.find(p)
	if at < 0 {
		if len(m.calls) == maxCalls {
			return errTooMany
		}
		at = len(m.calls)
		m.calls = append(m.calls, &call{index: index(p, at)})
	}
	c := m.calls[at]
	if err := m.grow(len(p.ID) + len(p.Function.Name) + len(p.Function.Arguments)); err != nil {
		return err
	}
	// An endpoint that sends them again sends the same values.
	if c.id == "" {
		c.id = p.ID
	}
	if c.name == "" {
		c.name = p.Function.Name
	}
	c.args.WriteString(string(p.Function.Arguments))
	if c.name == "" || c.known && c.told == c.args.Len() {
		return nil
	}
	rest := c.args.String()[c.told:]
	c.known, c.told = true, c.args.Len()
	return m.hand(Delta{Call: &CallDelta{Index: at, ID: c.id, Name: c.name, Args: rest}})
}

// find returns the place of the call that a piece belongs to, or -1 for a new one. It goes by the index; endpoints that give
// every call the index 0, or none, begin each with its id and name.
func (m *merger) find(p *callPiece) int {
	begins := p.ID != "" && p.Function.Name != ""
	for at := len(m.calls) - 1; at >= 0; at-- {
		c := m.calls[at]
		if p.Index != nil && c.index != *p.Index {
			continue
		}
		if begins && c.id != "" && c.id != p.ID {
			if p.Index == nil {
				continue
			}
			return -1
		}
		return at
	}
	return -1
}

func index(p *callPiece, at int) int {
	if p.Index != nil {
		return *p.Index
	}
	return at
}

// pause tells the caller that it has got all that has come.
func (m *merger) pause() error {
	if !m.waits {
		return nil
	}
	m.waits = false
	if err := m.on(Delta{Pause: true}); err != nil {
		return callersError{err}
	}
	return nil
}

func (m *merger) hand(d Delta) error {
	m.started, m.waits = true, true
	if err := m.on(d); err != nil {
		return callersError{err}
	}
	return nil
}

func (m *merger) grow(n int) error {
	if m.size += n; m.size > maxAnswer {
		return errTooLong
	}
	return nil
}

// answer is what has come.
func (m *merger) answer() Answer {
	a := Answer{Text: m.text.String(), Finish: m.finish, Usage: m.usage}
	for _, c := range m.calls {
		a.Calls = append(a.Calls, Call{ID: c.id, Name: c.name, Args: c.args.String()})
	}
	return a
}
