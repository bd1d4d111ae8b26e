package mcp

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
)

// reply is the answer to one POST: JSON, or an event stream from the first message on that has to leave before the end. It is safe
// for concurrent use, by the requests of a batch and by what tells of their progress.
type reply struct {
	// Static after construction.
	w       http.ResponseWriter
	control *http.ResponseController
	batch   bool

	mu       sync.Mutex
	stream   bool // it is an event stream
	answered bool // the one answer is written
	over     bool
	answers  [][]byte // of a batch, while it is no stream
}

func newReply(w http.ResponseWriter, batch bool) *reply {
	return &reply{w: w, control: http.NewResponseController(w), batch: batch}
}

// begin makes the reply an event stream. It is called with mu held.
func (o *reply) begin() {
	if o.stream {
		return
	}
	o.stream = true
	h := o.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // nginx would keep events back
	o.w.WriteHeader(http.StatusOK)
	for _, answer := range o.answers {
		o.write(answer)
	}
	o.answers = nil
}

var (
	eventBegin = []byte("event: message\ndata: ")
	eventEnd   = []byte("\n\n")
)

// write writes one event, whose data are the pieces together. It is called with mu held.
func (o *reply) write(pieces ...[]byte) {
	_, _ = o.w.Write(eventBegin) // the client may be gone, here and below
	for _, p := range pieces {
		_, _ = o.w.Write(oneLine(p))
	}
	_, _ = o.w.Write(eventEnd)
	_ = o.control.Flush()
}

// oneLine returns JSON without line breaks, which can only stand between its values.
func oneLine(b []byte) []byte {
	if bytes.IndexByte(b, '\n') < 0 && bytes.IndexByte(b, '\r') < 0 {
		return b
	}
	return bytes.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, b)
}

// event sends a message that is no answer. It reports whether the reply was still open.
func (o *reply) event(message []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over || o.answered {
		return false
	}
	o.begin()
	o.write(message)
	return true
}

// comment sends a line that says nothing, so that nobody takes the stream for dead.
func (o *reply) comment() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over || o.answered {
		return
	}
	o.begin()
	_, _ = o.w.Write([]byte(":\n\n"))
	_ = o.control.Flush()
}

// answer sends the answer to a request: one message in pieces.
func (o *reply) answer(status int, pieces ...[]byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.over:
	case o.stream:
		o.answered = !o.batch
		o.write(pieces...)
	case o.batch:
		o.answers = append(o.answers, bytes.Join(pieces, nil))
	default:
		o.answered = true
		writeJSON(o.w, status, pieces...)
	}
}

// failed answers a request with an error.
func (o *reply) failed(id []byte, e *wire.Error) { o.answer(e.Status, e.Append(nil, id)) }

// end ends the reply: what has no answer, such as a call that its client cancelled, gets none.
func (o *reply) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.stream && !o.answered {
		if len(o.answers) > 0 {
			writeJSON(o.w, http.StatusOK, []byte("["), bytes.Join(o.answers, []byte(",")), []byte("]"))
		} else {
			o.begin()
		}
	}
	o.over = true
}

// writeJSON answers with a body in pieces.
func writeJSON(w http.ResponseWriter, status int, pieces ...[]byte) {
	size := 0
	for _, p := range pieces {
		size += len(p)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(size))
	w.WriteHeader(status)
	for _, p := range pieces {
		_, _ = w.Write(p) // the client may be gone
	}
}
