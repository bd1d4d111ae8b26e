package offlinemodel

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/pkg/model/internal/chatwire"
)

const (
	// Name is the model's name.
	Name = "offline-1"

	who = "I am the offline model of Hecaton: I follow plain commands, I do not reason."

	maxWords = 100_000 // of one answer
	shown    = 300     // characters of a result
)

// reply is an answer: text, or calls.
type reply struct {
	text  string
	calls []chatwire.ToolCall
}

// answer says what comes next in a conversation.
func answer(r *chatwire.Request) reply {
	turn, ok := current(r.Messages)
	if !ok {
		return reply{text: help(r.Tools)}
	}
	if len(r.Tools) == 0 && wantsSummary(r.Messages) {
		return reply{text: summary(turn.task)}
	}
	if turn.plan == nil {
		return reply{text: fallback(turn, r.Tools)}
	}
	if slices.ContainsFunc(turn.results, result.bad) {
		return reply{text: turn.report() + " I stop here and do not try it again."}
	}
	return turn.next(r)
}

// next answers with the step that is due, or reports where none is left.
func (t turn) next(r *chatwire.Request) reply {
	rest := t.rest()
	var text []string
	for left := maxWords; len(rest) > 0 && rest[0].says(); {
		n := min(rest[0].commands[0].words, left)
		left -= n
		text = append(text, words(n))
		rest = rest[1:]
	}
	switch {
	case len(rest) == 0:
		if report := t.report(); report != "" {
			text = append(text, report)
		}
		return reply{text: strings.Join(text, "\n")}
	case rest[0].strange != "":
		text = append(text, t.report(), fmt.Sprintf("I do not understand %q.", beginning(rest[0].strange, 80)), who)
		return reply{text: strings.TrimSpace(strings.Join(text, " "))}
	}
	calls, missing := rest[0].calls(r)
	if missing != nil {
		text = append(text, t.report(), fmt.Sprintf("I cannot do this: %s. No tool on offer can %s. %s%s",
			beginning(missing.source, 80), missing.action, who, offered(r.Tools)))
		return reply{text: strings.TrimSpace(strings.Join(text, " "))}
	}
	var called []string
	for _, c := range calls {
		called = append(called, c.Function.Name)
	}
	text = append(text, "I call "+strings.Join(called, " and ")+".")
	return reply{text: strings.Join(text, "\n"), calls: calls}
}

// rest is what is left of the plan: an answer with calls was a step.
func (t turn) rest() []step {
	rest := t.plan
	for done := t.answered; done > 0 && len(rest) > 0; rest = rest[1:] {
		if !rest[0].says() {
			done--
		}
	}
	return rest
}

// calls are those of a step, or the command for which no tool is on offer.
func (s step) calls(r *chatwire.Request) (out []chatwire.ToolCall, missing *command) {
	number := callsIn(r.Messages)
	for _, c := range s.commands {
		f, ok := find(c, r.Tools)
		switch {
		case ok:
		case c.action == callTool && len(r.Tools) > 0:
			// Who names a tool hears from those who have it, or could not look for it, why it cannot be called.
			f.Name = c.subject
		default:
			return nil, &c
		}
		number++
		out = append(out, chatwire.ToolCall{
			ID: fmt.Sprintf("call_%d", number), Type: "function",
			Function: chatwire.CallText{Name: f.Name, Arguments: arguments(c, f)},
		})
	}
	return out, nil
}

// callsIn counts those of a conversation.
func callsIn(messages []chatwire.Message) (n int) {
	for _, m := range messages {
		n += len(m.ToolCalls)
	}
	return n
}

// turn is what a user asked for last, and how far that is.
type turn struct {
	task     string
	plan     []step
	answered int // answers with calls so far
	results  []result
}

// result is what a call gave.
type result struct{ tool, text string }

// current finds the turn that a conversation is in. A message of the user that is no command, in the middle of a plan, is
// a remark on it.
func current(messages []chatwire.Message) (t turn, ok bool) {
	at := -1
	for i, m := range slices.Backward(messages) {
		if m.Role != "user" {
			continue
		}
		if at < 0 {
			at = i
		}
		if plan := parse(string(m.Content)); plan != nil {
			at = i
			break
		}
		if i == 0 || messages[i-1].Role != "tool" {
			break
		}
	}
	if at < 0 {
		return turn{}, false
	}
	t = turn{task: string(messages[at].Content)}
	t.plan = parse(t.task)
	tools := map[string]string{}
	for _, m := range messages[at+1:] {
		if len(m.ToolCalls) > 0 {
			t.answered++
		}
		for _, c := range m.ToolCalls {
			tools[c.ID] = c.Function.Name
		}
		if m.Role == "tool" {
			t.results = append(t.results, result{tools[m.ToolCallID], string(m.Content)})
		}
	}
	return t, true
}

// A result is text: what went wrong is known by how such texts begin.
var failed = regexp.MustCompile(`(?i)^\W*(?:error\b|failed\b|failure\b|rejected\b|invalid\b|timeout\b|cancelled\b|no such tool)` +
	`|\bdo not try\b.* again|nobody decided in time|may have run|rejected this call|did not run|was not (?:run|sent|delivered)|before this could run`)

// bad reports whether a result says that its call failed or did not run.
func (r result) bad() bool { return failed.MatchString(beginning(r.text, 400)) }

// report says what the results are, each by its beginning.
func (t turn) report() string {
	var lines []string
	for _, r := range t.results {
		name := r.tool
		if name == "" {
			name = "the tool"
		}
		switch {
		case r.bad():
			lines = append(lines, fmt.Sprintf("%s did not succeed: %s", name, beginning(r.text, shown)))
		case strings.TrimSpace(r.text) == "":
			lines = append(lines, name+" answered nothing.")
		default:
			lines = append(lines, fmt.Sprintf("%s answered: %s", name, beginning(r.text, shown)))
		}
	}
	const most = 10
	if left := len(lines) - most; left > 0 {
		lines = append([]string{fmt.Sprintf("%d more results came before these.", left)}, lines[left:]...)
	}
	return strings.Join(lines, "\n")
}

// beginning is the first n characters of a text.
func beginning(s string, n int) string {
	s = strings.TrimSpace(s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	at := 0
	for range n {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return s[:at] + "…"
}
