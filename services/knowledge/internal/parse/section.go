package parse

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is what the text of a section is.
type Kind string

// The kinds.
const (
	Prose Kind = ""
	Table Kind = "table" // Text has one row a line, beneath Header
)

// Section is a piece of a document that is on one page and beneath one heading.
type Section struct {
	Kind     Kind     `json:"kind,omitempty"`
	Text     string   `json:"text,omitempty"`
	Header   string   `json:"header,omitempty"` // of a table
	Page     int      `json:"page,omitempty"`   // from 1; 0 for none
	Headings []string `json:"headings,omitempty"`
}

// Failure says why a document cannot be read: its own fault, so that trying again changes nothing.
type Failure struct{ Message string }

func (f *Failure) Error() string { return f.Message }

func failure(format string, args ...any) *Failure { return &Failure{fmt.Sprintf(format, args...)} }

// MaxText is how much text a document may have, in bytes.
const MaxText = 32 << 20

// errTooLong is the failure of a document with more.
func errTooLong() *Failure {
	return failure("TOO_LONG: the document has more than %d MiB of text", MaxText>>20)
}

// sections collects what a reader finds, and stops it at MaxText.
type sections struct {
	list []Section
	size int
	path []string // headings, by level
}

// add adds a section beneath the current headings; an empty one is left out.
func (s *sections) add(one Section) error {
	one.Text = strings.TrimSpace(clean(one.Text))
	one.Header = clean(one.Header)
	if one.Text == "" {
		return nil
	}
	if s.size += len(one.Text) + len(one.Header); s.size > MaxText {
		return errTooLong()
	}
	if one.Headings == nil {
		one.Headings = s.headings()
	}
	s.list = append(s.list, one)
	return nil
}

// maxHeading is how many characters of a heading are kept.
const maxHeading = 200

// heading begins a section of a level from 1 to 6.
func (s *sections) heading(level int, text string) {
	for len(s.path) < level {
		s.path = append(s.path, "")
	}
	text = strings.Join(strings.Fields(clean(text)), " ")
	if utf8.RuneCountInString(text) > maxHeading {
		text = string([]rune(text)[:maxHeading])
	}
	s.path = append(s.path[:level-1], text)
}

func (s *sections) headings() []string {
	var path []string
	for _, h := range s.path {
		if h != "" {
			path = append(path, h)
		}
	}
	return path
}

// clean removes what is no text: bytes that are not UTF-8, and control characters but line ends and tabs.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r' || r == '\f' || r == '\v' || r == '\u2028' || r == '\u2029':
			return '\n'
		case r == utf8.RuneError || unicode.IsControl(r) || r == '\u00ad' || r == '\ufeff':
			return -1
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}

// cells makes a row of a table.
func cells(row []string) string {
	var b strings.Builder
	for i, cell := range row {
		if i > 0 {
			b.WriteString(" | ")
		}
		b.WriteString(strings.Join(strings.Fields(cell), " "))
	}
	return b.String()
}

// maxColumns is how many columns of a table are read.
const maxColumns = 2000

func checkColumns(n int) error {
	if n > maxColumns {
		return failure("TOO_MANY_COLUMNS: the table has %d columns, at most %d are read", n, maxColumns)
	}
	return nil
}
