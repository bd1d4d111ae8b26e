package agent

import (
	"sync"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// piece is text, or a part of a call's arguments.
type piece struct {
	call *agentv1.ToolCallChunk // nil for text
	text []byte
}

// pieceBuffer collects the pieces of an answer until they are written. The goroutine that asks the model adds them, the
// stream's takes them.
type pieceBuffer struct {
	mu         sync.Mutex
	pieces     []piece // guarded by mu
	previewDue bool    // a piece of a call waits to be shown; guarded by mu
	err        error   // why nothing can be written; guarded by mu
}

// addText adds text. The error is that of fail.
func (b *pieceBuffer) addText(text string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.pieces); n == 0 || b.pieces[n-1].call != nil {
		b.pieces = append(b.pieces, piece{})
	}
	last := &b.pieces[len(b.pieces)-1]
	last.text = append(last.text, text...)
	return b.err
}

// addCall adds a part of a call's arguments. chunk makes the event of a call of which no piece waits. first says that no
// piece of any call waited before. The error is that of fail.
func (b *pieceBuffer) addCall(id, args string, chunk func() *agentv1.ToolCallChunk) (first bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.pieces); n == 0 || b.pieces[n-1].call.GetToolCallId() != id {
		b.pieces = append(b.pieces, piece{call: chunk()})
	}
	last := &b.pieces[len(b.pieces)-1]
	last.text = append(last.text, args...)
	first, b.previewDue = !b.previewDue, true
	return first, b.err
}

// drain returns what has been collected, and forgets it.
func (b *pieceBuffer) drain() []piece {
	b.mu.Lock()
	defer b.mu.Unlock()
	pieces := b.pieces
	b.pieces, b.previewDue = nil, false
	return pieces
}

// fail has everybody know why nothing can be written any more.
func (b *pieceBuffer) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
}

// failure returns the error of fail, or nil.
func (b *pieceBuffer) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}
