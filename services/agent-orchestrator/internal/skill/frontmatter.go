package skill

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// Text is a SKILL.md.
type Text struct {
	About
	// Enabled and Priority are nil where the front matter does not say.
	Enabled  *bool
	Priority *int
	// Body is the Markdown behind the front matter.
	Body string
}

// Parse reads a SKILL.md. The error is a *errs.Error: SKILL_INVALID with the place in the file, or SKILL_TOO_LARGE.
func Parse(data []byte) (Text, error) {
	if len(data) > MaxBytes {
		return Text{}, tooLarge()
	}
	if !utf8.Valid(data) {
		return Text{}, at(lineOf(data), "", "%s is not UTF-8", Main)
	}
	front, body, err := split(strings.TrimPrefix(string(data), "\ufeff"))
	if err != nil {
		return Text{}, err
	}
	t := Text{About: About{Version: "1.0.0"}, Body: body}
	mapping, err := parseFront(front)
	if err != nil {
		return Text{}, err
	}
	r := reader{anchors: map[string]ast.Node{}, left: maxValues}
	for _, entry := range mapping {
		if err := t.set(&r, entry); err != nil {
			return Text{}, err
		}
	}
	for key, value := range map[string]string{"name": t.Name, "description": t.Description} {
		if value == "" {
			return Text{}, at(1, key, "the front matter has no %s, which is required", key)
		}
	}
	return t, nil
}

// at is the error of a SKILL.md at a place.
func at(line int, key, format string, args ...any) *errs.Error {
	e := invalid(format, args...)
	e.At = &errs.Place{Line: line, Key: key}
	e.Message = "line " + strconv.Itoa(line) + ": " + e.Message
	return e
}

// lineOf is the line of the first byte that is not UTF-8.
func lineOf(data []byte) int {
	line := 1
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		data = data[size:]
	}
	return line
}

// split divides a SKILL.md. The front matter begins in the second line of the file.
func split(text string) (front, body string, err error) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t\r") != "---" {
		return "", "", at(1, "", "there is no front matter: the first line must be ---, followed by name and description in YAML and another ---")
	}
	for from := 0; from < len(rest); {
		line, _, more := strings.Cut(rest[from:], "\n")
		next := from + len(line) + 1
		if strings.TrimRight(line, " \t\r") == "---" {
			if from > maxFront {
				return "", "", at(1, "", "the front matter has more than %d bytes", maxFront)
			}
			if !more {
				return rest[:from], "", nil
			}
			return rest[:from], strings.TrimLeft(rest[next:], "\r\n"), nil
		}
		from = next
	}
	return "", "", at(strings.Count(text, "\n")+1, "", "the front matter does not end: a line --- is missing")
}

// set takes one key of the front matter over.
func (t *Text) set(r *reader, e entry) (err error) {
	switch e.key {
	case "name":
		if t.Name, err = r.text(e); err == nil && !ValidName(t.Name) {
			err = e.wrong("must have 1 to %d letters, digits, - and _", maxName)
		}
	case "description":
		t.Description, err = r.text(e)
		if t.Description = strings.TrimSpace(t.Description); err == nil && (t.Description == "" || utf8.RuneCountInString(t.Description) > maxDescription) {
			err = e.wrong("must have 1 to %d characters", maxDescription)
		}
		if err == nil && !printable(strings.NewReplacer("\n", "", "\t", "").Replace(t.Description)) {
			err = e.wrong("has a control character")
		}
	case "version":
		t.Version, err = r.short(e)
	case "author":
		t.Author, err = r.short(e)
	case "tags":
		t.Tags, err = r.words(e)
	case "triggers":
		t.Triggers, err = r.words(e)
	case "priority":
		var n int
		n, err = r.number(e)
		t.Priority = &n
	case "enabled":
		var on bool
		on, err = r.boolean(e)
		t.Enabled = &on
	default:
		if t.Metadata == nil {
			t.Metadata = map[string]any{}
		}
		t.Metadata[e.key], err = r.value(e, e.value, 0)
	}
	return err
}

// printable reports whether a text is one line of a value that people read.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) })
}
