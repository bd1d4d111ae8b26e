package agent

import (
	"errors"
	"strings"
	"sync"
	"time"

	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// stream keeps and publishes an answer while the model writes it. What comes is collected; a goroutine takes all that is
// there, keeps it with one commit, publishes it, and looks again. So the first token travels alone and at once, and a model
// that is faster than the database makes larger pieces, not a queue. No timer is involved, but for pieces of calls: they are
// a preview, and most calls are whole before a preview of them is of use.
//
// From begin until stop that goroutine owns the run's ledger. What was on the page before, such as the result that the model
// is being told, it keeps first: that need not be kept before the model is asked, only before its answer is.
type stream struct {
	// static after construction
	t    *thread
	id   string        // the message_id
	wake chan struct{} // has a token while there may be something new
	over chan struct{} // closed when the answer has ended
	done chan struct{} // closed when the goroutine has

	// owned by the goroutine that asks the model
	unheard string   // of an answer that broke off: what this one has to say again before anything of it is news
	callIDs []string // by index
	begun   bool     // the goroutine runs
	preview *time.Timer

	// owned by whoever owns the ledger
	said     bool            // a piece of this answer is on a page
	heard    strings.Builder // its text on pages; not kept where the client takes another text in its place
	replaces string          // the message_id that the first piece takes the place of; "" for none, and after it

	mu        sync.Mutex
	pieces    []piece // guarded by mu
	previewed bool    // a preview is due; guarded by mu
	err       error   // why nothing can be kept; guarded by mu
}

// piece is text, or a part of a call's arguments.
type piece struct {
	call *agentv1.ToolCallChunk // nil for text
	text []byte
}

// previewAfter is how long a piece of a call waits for more.
const previewAfter = 10 * time.Millisecond

// newStream returns the stream of an answer. Where one broke off before it, the new one takes its place if the client asked
// for that, and goes on with it otherwise: what was heard is not said again.
func newStream(t *thread) *stream {
	s := &stream{t: t, wake: make(chan struct{}, 1), over: make(chan struct{}), done: make(chan struct{})}
	switch {
	case t.broken.id == "":
		s.id = newMessageID()
	case t.settings.Invoke.GetReplaces():
		s.id, s.replaces = newMessageID(), t.broken.id
	default:
		s.id, s.unheard, s.said = t.broken.id, t.broken.heard, true
		s.heard.WriteString(t.broken.heard)
	}
	if !t.empty() {
		s.begin()
		s.look()
	}
	return s
}

// take collects a piece; it waits for nobody. The error is errDiffers, or why nothing can be kept.
func (s *stream) take(d llm.Delta) error {
	if s.t.isTask() { // told when it is whole: to the agent, not to the user
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.err
	}
	if d.Call == nil && s.unheard != "" {
		if err := s.hearAgain(&d.Text); err != nil || d.Text == "" {
			return err
		}
	}
	s.mu.Lock()
	err, due := s.err, false
	if d.Call != nil {
		s.addCall(d.Call)
		due, s.previewed = !s.previewed, true
	} else {
		s.addText(d.Text)
	}
	s.mu.Unlock()
	switch {
	case err != nil:
		return err
	case d.Call == nil:
		s.begin()
		s.look()
	case due && s.preview == nil:
		s.begin()
		s.preview = time.AfterFunc(previewAfter, s.look)
	case due:
		s.preview.Reset(previewAfter)
	}
	return nil
}

// hearAgain takes from text what was heard before.
func (s *stream) hearAgain(text *string) error {
	*text = tool.CleanText(*text)
	n := min(len(*text), len(s.unheard))
	if (*text)[:n] != s.unheard[:n] {
		return errDiffers
	}
	*text, s.unheard = (*text)[n:], s.unheard[n:]
	return nil
}

// errDiffers is an answer that does not go on with what was heard of the one that broke off. Its user reads it.
var errDiffers = errors.New("the model's answer broke off, and asked again the model said something else; what was read is " +
	"kept: send another message to go on from there")

// begin starts the goroutine.
func (s *stream) begin() {
	if !s.begun {
		s.begun = true
		go s.write()
	}
}

// look tells the goroutine that there is something new.
func (s *stream) look() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *stream) addText(text string) {
	if n := len(s.pieces); n == 0 || s.pieces[n-1].call != nil {
		s.pieces = append(s.pieces, piece{})
	}
	last := &s.pieces[len(s.pieces)-1]
	last.text = append(last.text, text...)
}

func (s *stream) addCall(d *llm.CallDelta) {
	id := s.callID(d.Index, d.ID)
	if n := len(s.pieces); n == 0 || s.pieces[n-1].call.GetToolCallId() != id {
		s.pieces = append(s.pieces, piece{call: &agentv1.ToolCallChunk{
			ToolCallId: id, ToolName: s.t.kit.labelOf(s.t.lexicon, d.Name), MessageId: s.id,
		}})
	}
	last := &s.pieces[len(s.pieces)-1]
	last.text = append(last.text, d.Args...)
}

// callID returns the id of the answer's call at index: the model's own where it is good, which is decided once.
func (s *stream) callID(index int, given string) string {
	for len(s.callIDs) <= index {
		s.callIDs = append(s.callIDs, "")
	}
	if s.callIDs[index] == "" {
		s.callIDs[index] = s.t.uniqueCallID(given, s.callIDs)
	}
	return s.callIDs[index]
}

// write keeps what has come until the answer has ended: what is left then goes with it.
func (s *stream) write() {
	defer close(s.done)
	for {
		select {
		case <-s.over:
			return
		case <-s.wake:
		}
		s.sayPieces()
		if err := s.t.flush(s.t.hold); err != nil {
			s.mu.Lock()
			s.err = err
			s.mu.Unlock()
			s.t.endAsk(err) // no answer is of use
			return
		}
	}
}

// sayPieces puts what has come on the page.
func (s *stream) sayPieces() {
	s.mu.Lock()
	pieces := s.pieces
	s.pieces, s.previewed = nil, false
	s.mu.Unlock()
	for _, p := range pieces {
		s.say(p)
	}
}

func (s *stream) say(p piece) {
	text := tool.CleanText(string(p.text))
	if p.call == nil {
		s.t.say(textEvent(&agentv1.Text{Content: text, MessageId: s.id, Replaces: s.takeReplaces()}))
		if !s.t.settings.Invoke.GetReplaces() {
			s.heard.WriteString(text)
		}
	} else {
		s.sayReplaces()
		p.call.Args = text
		s.t.say(chunkEvent(p.call))
	}
	if !s.said {
		s.said = true
		s.t.change.Streaming = &s.id
	}
}

func (s *stream) takeReplaces() string {
	replaces := s.replaces
	s.replaces = ""
	return replaces
}

// sayReplaces says that pieces of an answer before no longer count where no text does.
func (s *stream) sayReplaces() {
	if replaces := s.takeReplaces(); replaces != "" {
		s.t.say(textEvent(&agentv1.Text{MessageId: s.id, Replaces: replaces}))
	}
}

// stop ends the goroutine and returns why something could not be kept. What was collected and not kept is left to finish or
// abandon.
func (s *stream) stop() error {
	if s.preview != nil {
		s.preview.Stop()
	}
	if s.begun {
		close(s.over)
		<-s.done
	}
	return s.err
}

// finish puts the rest of an answer on the page; no other one follows it.
func (s *stream) finish() {
	s.sayPieces()
	s.sayReplaces()
	if s.said || s.t.broken.id != "" {
		none := ""
		s.t.change.Streaming = &none
	}
	s.t.broken = broken{}
}

// abandon leaves an answer that broke off: the next one goes on with it, or takes its place.
func (s *stream) abandon() {
	if s.said {
		s.t.broken = broken{id: s.id, heard: s.heard.String()}
	}
}

// broken is an answer that broke off after clients had heard of it; the zero value is none.
type broken struct {
	id    string // its message_id
	heard string // the text that was said; empty where the client takes another one in its place
}
