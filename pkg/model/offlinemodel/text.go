package offlinemodel

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/model/internal/chatwire"
)

var (
	asksHelp    = regexp.MustCompile(`(?i)\b(?:help|who are you|what can you do|what are you|hello|hi|hey)\b`)
	asksSummary = regexp.MustCompile(`(?i)^\W*summari[sz]e\b`)
)

// wantsSummary reports whether the system prompt asks for a summary of what the user's message holds.
func wantsSummary(messages []chatwire.Message) bool {
	return messages[0].Role == "system" && asksSummary.MatchString(string(messages[0].Content))
}

// help says what the model is and what it can do with these tools.
func help(tools []chatwire.Tool) string {
	var can []string
	for _, e := range examples {
		if _, ok := find(command{action: e.action}, tools); ok {
			can = append(can, e.say)
		}
	}
	text := who
	if len(can) > 0 {
		text += " With the tools on offer you can tell me: " + strings.Join(can, "; ") + "."
	}
	if len(tools) > 0 {
		text += ` "call NAME {…}" calls any tool by its name.` + offered(tools)
	}
	return text + ` Join commands with "then", or write "at once:" before several. "say 200 words" needs no tool.`
}

var examples = []struct {
	action action
	say    string
}{
	{screenshot, "take a screenshot"},
	{readFile, "read the file notes.txt"},
	{listFiles, "list the files in docs"},
	{writeFile, "write 'text' to notes.txt"},
	{runCommand, "run `ls -l`"},
	{navigate, "open https://example.org"},
	{click, "click #button"},
	{typeText, "type 'text' into #field"},
	{getText, "get the text of the page"},
	{listTabs, "list the tabs"},
	{addTodo, "add a todo: call Ana"},
	{showTodos, "show the todos"},
	{delegate, "delegate: read the file notes.txt"},
}

func offered(tools []chatwire.Tool) string {
	const most = 20
	if len(tools) == 0 {
		return " No tool is on offer."
	}
	var names []string
	for _, t := range tools[:min(len(tools), most)] {
		names = append(names, t.Function.Name)
	}
	text := " Tools on offer: " + strings.Join(names, ", ")
	if left := len(tools) - most; left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text + "."
}

// fallback answers what is no command.
func fallback(t turn, tools []chatwire.Tool) string {
	switch {
	case len(t.results) > 0:
		return t.report() + "\nI no longer have the commands that these belong to. " + who
	case strings.TrimSpace(t.task) == "" || asksHelp.MatchString(t.task):
		return help(tools)
	}
	return fmt.Sprintf("You said: %q. %s Say \"help\" for the commands.", beginning(t.task, 200), who)
}

// summary is how each line of a text begins, not an understanding of it.
func summary(text string) string {
	const most = 60
	var lines []string
	for line := range strings.Lines(text) {
		if line = beginning(line, 120); line != "" {
			lines = append(lines, line)
		}
	}
	lines = lines[max(0, len(lines)-most):]
	return "Shortened by the offline model, which does not reason:\n" + strings.Join(lines, "\n")
}

var cycle = strings.Fields("These are words of the offline model. They mean nothing and are here to be streamed, one after the other, until there are enough of them.")

// words is so many words.
func words(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = cycle[i%len(cycle)]
	}
	return strings.Join(out, " ")
}
