package offlinemodel

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	maxSteps   = 1000
	maxMessage = 64 << 10 // a longer one is no command
)

// step is what one answer does: one command, or several at once.
type step struct {
	commands []command
	// strange is text that is no command; it ends the plan.
	strange string
}

// says reports whether the step is one without a call.
func (s step) says() bool { return len(s.commands) == 1 && s.commands[0].action == sayWords }

var (
	atOnce = regexp.MustCompile(`(?is)^(?:please )?(?:at once|in parallel|at the same time|all at once)\s*[:,]?\s*(.*)$`)
	item   = regexp.MustCompile(`^\s*(?:\d+[.)]|[-*•])\s+(.*)$`)
	times  = regexp.MustCompile(`(?is)^(.*?),? (\d{1,4}) times[.!]?$`)
)

// parse reads what a message asks for, in its order. It is nil where the message does not begin with a command.
func parse(message string) []step {
	// What begins with a bracket is a note of the agent's server, not a person's word.
	if len(message) > maxMessage || strings.HasPrefix(message, "[") {
		return nil
	}
	var plan []step
	for _, part := range parts(message) {
		plan = append(plan, parseStep(part)...)
		if len(plan) > maxSteps {
			plan = plan[:maxSteps]
			break
		}
	}
	if !slices.ContainsFunc(plan, func(s step) bool { return s.commands != nil }) || plan[0].strange != "" {
		return nil
	}
	return plan
}

// parts are what is done one after the other: the items of a list, or what separators separate.
func parts(message string) []string {
	var items []string
	for line := range strings.Lines(message) {
		if m := item.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			items = append(items, sequence(m[1])...)
		}
	}
	if items != nil {
		return items
	}
	return sequence(message)
}

func sequence(text string) []string {
	if atOnce.MatchString(strings.TrimSpace(text)) {
		return []string{text}
	}
	return split(text, true)
}

func parseStep(text string) []step {
	if m := atOnce.FindStringSubmatch(strings.TrimSpace(text)); m != nil {
		var s step
		for _, part := range split(m[1], false) {
			c, ok := parseCommand(part)
			if !ok {
				return []step{{strange: part}}
			}
			s.commands = append(s.commands, c)
		}
		if s.commands == nil {
			return []step{{strange: text}}
		}
		return []step{s}
	}
	n := 1
	if m := times.FindStringSubmatch(text); m != nil {
		if asked, err := strconv.Atoi(m[2]); err == nil && asked > 0 {
			text, n = m[1], min(asked, maxSteps)
		}
	}
	c, ok := parseCommand(text)
	if !ok {
		return []step{{strange: strings.TrimSpace(text)}}
	}
	return slices.Repeat([]step{{commands: []command{c}}}, n)
}

// split cuts a text at separators that are outside of quotes and braces. "and" and commas separate only what goes on as a
// command. Where inOrder is false "then" does not separate.
func split(text string, inOrder bool) []string {
	var out []string
	from := 0
	for _, at := range outside(text) {
		if at < from {
			continue
		}
		n := separator(text[at:], inOrder)
		if n == 0 {
			continue
		}
		out = append(out, text[from:at])
		from = at + n
	}
	out = append(out, text[from:])
	out = slices.DeleteFunc(out, func(s string) bool { return strings.Trim(s, " \t\r\n.,") == "" })
	return out
}

var (
	thenWord = regexp.MustCompile(`(?i)^(?:[,.]?\s+(?:and\s+)?then[,:]?\s+)`)
	andWord  = regexp.MustCompile(`(?i)^(?:,\s+and|,|\s+and|\.)\s+`)
	verb     = regexp.MustCompile(`(?i)^(?:please )?(?:load|activate|remember|forget|call|use|take|make|capture|say|write|save|put|create|list|show|ls|read|cat|open|add|delegate|visit|browse|navigate|go to|type|enter|fill|get|click|press|tap|run|execute|search|look|ask|find)\b`)
)

// separator returns how long the separator is that a text begins with.
func separator(text string, inOrder bool) int {
	if text[0] == ';' || text[0] == '\n' {
		return 1
	}
	if m := thenWord.FindString(text); m != "" && inOrder {
		return len(m)
	}
	if m := andWord.FindString(text); m != "" && verb.MatchString(text[len(m):]) {
		return len(m)
	}
	return 0
}

// outside returns the places in a text at which a separator may begin.
func outside(text string) []int {
	var places []int
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '{':
			depth++
		case c == '}':
			depth = max(depth-1, 0)
		case (c == '\'' || c == '"' || c == '`') && opens(text, i):
			if end := strings.IndexByte(text[i+1:], c); end >= 0 {
				i += end + 1
			}
		case depth == 0 && strings.IndexByte("; \t\n,.", c) >= 0:
			places = append(places, i)
		}
	}
	return places
}

// opens tells a quote from an apostrophe.
func opens(text string, at int) bool {
	return at == 0 || strings.IndexByte(" \t\n(:,{[", text[at-1]) >= 0
}
