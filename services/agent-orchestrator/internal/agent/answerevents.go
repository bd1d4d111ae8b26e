package agent

import (
	"strings"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/journal"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// broken is an answer that broke off after clients had received some of it; the zero value is none.
type broken struct {
	id    string // its message_id
	heard string // the text that clients have; empty if they take another text in its place
}

// answerEvents makes events of the pieces of an answer. Whoever owns the conversation's batch owns it.
type answerEvents struct {
	// static
	conv     *conversation
	id       string // the message_id
	replaced bool   // the client takes another answer in the place of one that breaks off
	pieces   *pieceBuffer

	begun    bool            // the batch has, or had, a piece of this answer
	heard    strings.Builder // the text of all pieces; empty if replaced
	replaces string          // the message_id that the first piece replaces; "" for none, and after that piece
}

// addPieces puts the pieces that have come into the batch.
func (e *answerEvents) addPieces() {
	for _, p := range e.pieces.drain() {
		e.addPiece(p)
	}
}

func (e *answerEvents) addPiece(p piece) {
	text := tool.CleanText(string(p.text))
	if p.call == nil {
		e.conv.batch.AddEvent(journal.TextEvent(&agentv1.Text{Content: text, MessageId: e.id, Replaces: e.takeReplaces()}))
		if !e.replaced {
			e.heard.WriteString(text)
		}
	} else {
		e.addReplaces()
		p.call.Args = text
		e.conv.batch.AddEvent(journal.ChunkEvent(p.call))
	}
	if !e.begun {
		e.begun = true
		e.conv.batch.Change.Streaming = &e.id
	}
}

func (e *answerEvents) takeReplaces() string {
	replaces := e.replaces
	e.replaces = ""
	return replaces
}

// addReplaces says that the pieces of the answer before no longer count, if no text has said so.
func (e *answerEvents) addReplaces() {
	if replaces := e.takeReplaces(); replaces != "" {
		e.conv.batch.AddEvent(journal.TextEvent(&agentv1.Text{MessageId: e.id, Replaces: replaces}))
	}
}

// finish puts the rest of an answer into the batch: it is the last attempt.
func (e *answerEvents) finish() {
	e.addPieces()
	e.addReplaces()
	if e.begun || e.conv.broken.id != "" {
		none := ""
		e.conv.batch.Change.Streaming = &none
	}
	e.conv.broken = broken{}
}

// abandon leaves an answer that broke off: the next attempt continues it, or replaces it.
func (e *answerEvents) abandon() {
	if e.begun {
		e.conv.broken = broken{id: e.id, heard: e.heard.String()}
	}
}
