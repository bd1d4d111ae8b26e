package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/hecaton-dev/hecaton/pkg/model/internal/chatwire"
)

// Answer is one answer of the script. Its methods return a changed copy, so that answers may be shared.
type Answer struct {
	pieces []piece
	finish string
	usage  *chatwire.Usage
	noDone bool
	silent bool // not even the response's head is sent
	end    end  // what happens after the last piece

	status      int // of an answer that is no stream
	header      http.Header
	body        []byte
	contentType string

	compute func(Request) Answer
}

// piece is one event, what must happen before it, or both.
type piece struct {
	delta chatwire.Delta
	raw   []byte
	wait  <-chan struct{}
}

type end int

const (
	whole end = iota
	cut
	stalled
)

// ToolCall is a call that the model makes. Args is marshalled; a string or json.RawMessage is written as it is, JSON or not.
type ToolCall struct {
	ID   string
	Name string
	Args any
}

// Say answers with text; each argument is a piece of the stream.
func Say(pieces ...string) Answer {
	a := Answer{finish: "stop", usage: chatwire.NewUsage(10, max(1, len(pieces)))}
	for _, text := range pieces {
		a.pieces = append(a.pieces, piece{delta: chatwire.Delta{Content: text}})
	}
	return a
}

// Call answers with one tool call, with the id call_0 (see [ToolCall] for args).
func Call(name string, args any) Answer { return Calls(ToolCall{Name: name, Args: args}) }

// Calls answers with parallel tool calls. Each comes in three pieces: its id and name, and two halves of its arguments,
// mixed with those of the other calls. A call without an id gets call_<n>.
func Calls(calls ...ToolCall) Answer {
	a := Answer{finish: "tool_calls", usage: chatwire.NewUsage(10, 5*len(calls))}
	var heads, first, second []piece
	for i, c := range calls {
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d", i)
		}
		args := text(c.Args)
		half := len(args) / 2
		heads = append(heads, callPiece(i, chatwire.ToolCall{ID: c.ID, Type: "function", Function: chatwire.CallText{Name: c.Name}}))
		first = append(first, callPiece(i, chatwire.ToolCall{Function: chatwire.CallText{Arguments: args[:half]}}))
		second = append(second, callPiece(i, chatwire.ToolCall{Function: chatwire.CallText{Arguments: args[half:]}}))
	}
	a.pieces = slices.Concat(heads, first, second)
	return a
}

func callPiece(index int, c chatwire.ToolCall) piece {
	c.Index = &index
	return piece{delta: chatwire.Delta{ToolCalls: []chatwire.ToolCall{c}}}
}

// text writes arguments, which the caller of Call may have written already.
func text(args any) string {
	switch v := args.(type) {
	case nil:
		return "{}"
	case string:
		return v
	case json.RawMessage:
		return string(v)
	}
	b, err := json.Marshal(args)
	if err != nil {
		panic("modeltest: arguments that are not JSON: " + err.Error()) // a mistake in the test itself
	}
	return string(b)
}

// Status answers with a status other than 200. The body may be "", the header nil.
func Status(status int, header http.Header, body string) Answer {
	return Answer{status: status, header: header, body: []byte(body), contentType: "application/json"}
}

// Body answers 200 with something that is not a stream of events.
func Body(contentType, body string) Answer {
	return Answer{status: http.StatusOK, body: []byte(body), contentType: contentType}
}

// Raw answers with an event stream of exactly these bytes; each argument is flushed alone.
func Raw(chunks ...string) Answer {
	a := Answer{noDone: true}
	for _, c := range chunks {
		a.pieces = append(a.pieces, piece{raw: []byte(c)})
	}
	return a
}

// Func computes the answer from the request.
func Func(f func(Request) Answer) Answer { return Answer{compute: f} }

// Repeat is n times the same answer.
func Repeat(n int, a Answer) []Answer { return slices.Repeat([]Answer{a}, n) }

// Then appends the pieces of another answer, for example calls after text; the rest of it counts as well.
func (a Answer) Then(next Answer) Answer {
	next.pieces = slices.Concat(a.pieces, next.pieces)
	return next
}

// Wait holds the stream before its next piece until the channel is closed or sends, or the client leaves: Say("a").Wait(c)
// holds it after "a", Say("a").Wait(c).Then(Say("b")) between the two, and Say().Wait(c).Then(…) before the first byte of
// the body.
func (a Answer) Wait(gate <-chan struct{}) Answer {
	a.pieces = append(slices.Clone(a.pieces), piece{wait: gate})
	return a
}

// Cut closes the connection after n pieces.
func (a Answer) Cut(n int) Answer { return a.stop(n, cut) }

// Stall sends nothing more after n pieces, until the client leaves. With n < 0 not even the response's head is sent.
func (a Answer) Stall(n int) Answer { return a.stop(n, stalled) }

func (a Answer) stop(n int, how end) Answer {
	a.end = how
	if n < 0 {
		a.silent = true
	}
	a.pieces = slices.Clone(a.pieces[:min(max(n, 0), len(a.pieces))])
	return a
}

// Finish ends the answer for this reason. "" leaves the reason out: the answer is one that was cut.
func (a Answer) Finish(reason string) Answer {
	a.finish = reason
	return a
}

// Usage says what the answer took; it is sent where the request asked for it.
func (a Answer) Usage(prompt, completion int) Answer {
	a.usage = chatwire.NewUsage(prompt, completion)
	return a
}

// NoUsage leaves the usage out.
func (a Answer) NoUsage() Answer {
	a.usage = nil
	return a
}

// NoDone leaves out the stream's last line.
func (a Answer) NoDone() Answer {
	a.noDone = true
	return a
}
