package agent

import (
	"errors"
	"time"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// previewAfter is how long a piece of a call waits for more.
const previewAfter = 10 * time.Millisecond

// errDiffers is an answer that does not continue what clients received of the one that broke off. Its user reads it.
var errDiffers = errors.New("the model's answer broke off, and asked again the model said something else; what was read is " +
	"kept: send another message to go on from there")

// answerStream stores and publishes an answer while the model writes it. Pieces are collected; whenever the model pauses, a
// goroutine takes all that are there, writes them with one commit, and looks again. So the first token travels alone and at
// once, and a model that is faster than the database makes larger pieces, not a queue. No timer is involved, except for
// pieces of calls: they are a preview, and most calls are whole before a preview of them is of use.
//
// From begin until stop that goroutine owns the conversation's batch, and with it events. What was in the batch before, such
// as the result that the model is being told, it writes first: that need not be stored before the model is asked, only
// before its answer is.
type answerStream struct {
	// static after construction
	conv   *conversation
	pieces pieceBuffer
	wake   chan struct{} // holds a value while there may be new pieces
	over   chan struct{} // closed when the answer has ended
	done   chan struct{} // closed when the goroutine has ended

	events answerEvents // owned by whoever owns the batch

	// owned by the goroutine that asks the model
	unheard string   // of an answer that broke off: what this one has to repeat before anything in it is new
	callIDs []string // by index
	begun   bool     // the goroutine runs
	texts   bool     // the goroutine has not been told of the last text
	preview *time.Timer
}

// newAnswerStream returns the stream of an answer. If one broke off before it, the new one replaces it if the client asked
// for that, and otherwise continues it: what clients have is not sent again.
func newAnswerStream(conv *conversation) *answerStream {
	s := &answerStream{conv: conv, wake: make(chan struct{}, 1), over: make(chan struct{}), done: make(chan struct{})}
	e := &s.events
	e.conv, e.pieces, e.replaced = conv, &s.pieces, conv.env.settings.Invoke.GetReplaces()
	switch {
	case conv.broken.id == "":
		e.id = newMessageID()
	case e.replaced:
		e.id, e.replaces = newMessageID(), conv.broken.id
	default:
		e.id, e.begun, s.unheard = conv.broken.id, true, conv.broken.heard
		e.heard.WriteString(conv.broken.heard)
	}
	if !conv.batch.Empty() {
		s.begin()
		s.notify()
	}
	return s
}

// take collects a piece; it waits for nobody. The error is errDiffers, or why nothing can be written.
func (s *answerStream) take(d llm.Delta) error {
	switch {
	case d.Pause:
		if s.texts {
			s.texts = false
			s.notify()
		}
		return s.pieces.failure()
	case s.conv.isSubAgent(): // told when it is whole: to the agent, not to the user
		return s.pieces.failure()
	case d.Call != nil:
		return s.takeCall(d.Call)
	}
	text := d.Text
	if s.unheard != "" {
		if err := s.skipHeard(&text); err != nil || text == "" {
			return err
		}
	}
	if err := s.pieces.addText(text); err != nil {
		return err
	}
	s.begin()
	s.texts = true
	return nil
}

func (s *answerStream) takeCall(d *llm.CallDelta) error {
	id := s.callID(d.Index, d.ID)
	first, err := s.pieces.addCall(id, d.Args, func() *agentv1.ToolCallChunk {
		return &agentv1.ToolCallChunk{ToolCallId: id, ToolName: s.conv.tools.Label(s.conv.env.names, d.Name), MessageId: s.events.id}
	})
	switch {
	case err != nil:
		return err
	case first && s.preview == nil:
		s.begin()
		s.preview = time.AfterFunc(previewAfter, s.notify)
	case first:
		s.preview.Reset(previewAfter)
	}
	return nil
}

// skipHeard removes from text what clients have already.
func (s *answerStream) skipHeard(text *string) error {
	*text = tool.CleanText(*text)
	n := min(len(*text), len(s.unheard))
	if (*text)[:n] != s.unheard[:n] {
		return errDiffers
	}
	*text, s.unheard = (*text)[n:], s.unheard[n:]
	return nil
}

// callID returns the id of the answer's call at index: the model's own if it is usable, which is decided once.
func (s *answerStream) callID(index int, given string) string {
	for len(s.callIDs) <= index {
		s.callIDs = append(s.callIDs, "")
	}
	if s.callIDs[index] == "" {
		s.callIDs[index] = s.conv.uniqueCallID(given, s.callIDs)
	}
	return s.callIDs[index]
}

// begin starts the goroutine.
func (s *answerStream) begin() {
	if !s.begun {
		s.begun = true
		go s.write()
	}
}

// notify tells the goroutine that there is something new.
func (s *answerStream) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// write writes what has come until the answer has ended; what is left then is for answerEvents.finish.
func (s *answerStream) write() {
	defer close(s.done)
	for {
		select {
		case <-s.over:
			return
		case <-s.wake:
		}
		s.events.addPieces()
		if err := s.conv.flush(); err != nil {
			s.pieces.fail(err)
			s.conv.env.endAsking(err) // no answer is of use
			return
		}
	}
}

// stop ends the goroutine and returns why something could not be written. What was collected and not written is left to
// answerEvents.finish or abandon.
func (s *answerStream) stop() error {
	if s.preview != nil {
		s.preview.Stop()
	}
	if s.begun {
		close(s.over)
		<-s.done
	}
	return s.pieces.failure()
}
