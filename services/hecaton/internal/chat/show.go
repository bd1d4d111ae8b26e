package chat

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"sync"
)

const (
	// shownArgs and shownResult are how many bytes are shown of a call's arguments and result. A call that a person has to
	// decide on is shown whole.
	shownArgs   = 300
	shownResult = 800
)

// screen writes a conversation. It knows whether a line is open, since text comes in pieces.
type screen struct {
	out     io.Writer // static after construction
	message string    // the answer that is being written; owned by who shows events

	mu   sync.Mutex // below out
	open bool       // guarded by mu: the last line has not ended
}

// write writes text; own says that it must start on a new line. Write errors are ignored: nobody reads the output any more.
func (s *screen) write(text string, own bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own && s.open {
		text = "\n" + text
	}
	if text != "" {
		_, _ = io.WriteString(s.out, text)
		s.open = !strings.HasSuffix(text, "\n")
	}
}

// line writes a line of its own.
func (s *screen) line(format string, args ...any) { s.write(fmt.Sprintf(format, args...)+"\n", true) }

// end ends a line that is open.
func (s *screen) end() { s.write("", true) }

// prompt writes what a person is to answer, who ends the line with it.
func (s *screen) prompt(interactive bool, text string) {
	s.write(text, true)
	if interactive {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open = false
	}
}

// show writes an event.
func (s *screen) show(e event) {
	switch e.Type {
	case "text":
		s.text(e)
	case "tool_call":
		s.line("→ %s%s %s", by(e.Parent), safeLine(e.ToolName), shorten(safeLine(compact(e.ToolArgs)), shownArgs))
	case "tool_call_result":
		s.result(e)
	case "skill":
		s.line("* skill %s (%s)", safeLine(e.Name), safeLine(e.Reason))
	case "error":
		s.line("! %s", Safe(strings.TrimSpace(cmp.Or(e.Error, e.ErrorCode)+" "+e.Details)))
	case "complete":
		if note := map[string]string{
			"cancelled": "! the run was cancelled", "max_steps": "! the run has taken all the steps that it may take",
		}[e.FinishReason]; note != "" {
			s.line("%s", note)
		}
		s.end()
	}
}

// by says whose call it is, where it is a sub-agent's.
func by(parent string) string {
	if parent == "" {
		return ""
	}
	return "sub-agent: "
}

func (s *screen) text(e event) {
	if e.Replaces != "" {
		s.line("! this answer was cut off; it begins again:")
	} else if e.MessageID != s.message {
		s.end()
	}
	s.message = e.MessageID
	s.write(Safe(e.text()), false)
}

// result shows how a call ended, each line behind a bar.
func (s *screen) result(e event) {
	head := "←"
	switch {
	case e.Outcome != "":
		head = "← " + safeLine(e.Outcome)
	case e.IsError:
		head = "← error"
	}
	text := strings.TrimRight(shorten(Safe(e.Result), shownResult), "\n")
	s.line("%s %s%s", head, by(e.Parent), safeLine(e.ToolName))
	for line := range strings.SplitSeq(text, "\n") {
		if text != "" {
			s.line("  | %s", line)
		}
	}
	for _, a := range e.artifacts() {
		s.line("  + %s, %d bytes: %s", safeLine(cmp.Or(a.MIMEType, a.Type)), a.Size, safeLine(a.FilePath))
	}
	if e.FilePath != "" {
		s.line("  + all of it: %s", safeLine(e.FilePath))
	}
}

// pending shows what a person is asked to decide about, whole.
func (s *screen) pending(p Pending) {
	s.line("? %s%s wants to run%s, with", by(p.Parent), safeLine(p.Tool), where(p))
	for line := range strings.SplitSeq(Safe(indented(p.Args, "")), "\n") {
		s.line("  | %s", line)
	}
	if p.Why != "" {
		s.line("  it asks because %s", safeLine(p.Why))
	}
}

// where says on which node a call would run.
func where(p Pending) string {
	if p.Node == "" {
		return ""
	}
	return " on " + safeLine(p.Node)
}
