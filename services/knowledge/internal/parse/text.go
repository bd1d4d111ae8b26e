package parse

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

// decode makes UTF-8 of a text file. A byte order mark says what it is; what is not UTF-8 without one is taken for GB 18030 where it
// can be, and for Windows-1252 otherwise.
func decode(raw []byte) string {
	switch {
	case bytes.HasPrefix(raw, []byte{0xff, 0xfe}), bytes.HasPrefix(raw, []byte{0xfe, 0xff}):
		return with(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), raw)
	case utf8.Valid(raw):
		return strings.TrimPrefix(string(raw), "\ufeff")
	}
	if text := with(simplifiedchinese.GB18030, raw); text != "" && !strings.ContainsRune(text, utf8.RuneError) {
		return text
	}
	return with(charmap.Windows1252, raw)
}

func with(e encoding.Encoding, raw []byte) string {
	text, err := e.NewDecoder().Bytes(raw)
	if err != nil {
		return ""
	}
	return string(text)
}

// readText reads plain text. Form feeds end pages.
func readText(raw []byte) ([]Section, error) {
	text := decode(raw)
	var s sections
	pages := strings.Split(text, "\f")
	for i, page := range pages {
		one := Section{Text: page}
		if len(pages) > 1 {
			one.Page = i + 1
		}
		if err := s.add(one); err != nil {
			return nil, err
		}
	}
	return s.list, nil
}

// readMarkdown splits Markdown at its headings. Tables are sections of their own; code stays with the text around it.
func readMarkdown(raw []byte) ([]Section, error) {
	m := markdown{lines: strings.Split(frontMatter(strings.ReplaceAll(decode(raw), "\r\n", "\n")), "\n")}
	for m.at < len(m.lines) {
		if err := m.line(); err != nil {
			return nil, err
		}
	}
	err := m.flush()
	return m.list, err
}

// frontMatter leaves out what YAML a file begins with.
func frontMatter(text string) string {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return text
	}
	if _, body, found := strings.Cut(rest, "\n---\n"); found {
		return body
	}
	return text
}

// markdown reads lines.
type markdown struct {
	sections
	lines []string
	at    int
	text  strings.Builder
	fence string // that of the code block that is open
}

func (m *markdown) flush() error {
	err := m.add(Section{Text: m.text.String()})
	m.text.Reset()
	return err
}

func (m *markdown) line() error {
	line := m.lines[m.at]
	m.at++
	trimmed := strings.TrimSpace(line)
	if m.fence != "" {
		if strings.HasPrefix(trimmed, m.fence) && strings.Trim(trimmed, m.fence[:1]) == "" {
			m.fence = ""
		}
		m.keep(line)
		return nil
	}
	if mark := fenceOf(trimmed); mark != "" {
		m.fence = mark
		m.keep(line)
		return nil
	}
	if level, title := headingOf(line); level > 0 {
		err := m.flush()
		m.heading(level, title)
		m.keep(line)
		return err
	}
	if level := underline(trimmed); level > 0 && m.paragraph() {
		return m.setext(level, line)
	}
	if strings.Contains(line, "|") && m.at < len(m.lines) && isDelimiterRow(m.lines[m.at]) {
		return m.table(line)
	}
	m.keep(line)
	return nil
}

func (m *markdown) keep(line string) {
	m.text.WriteString(line)
	m.text.WriteByte('\n')
}

// fenceOf returns the fence that a line opens.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// headingOf reads "## Title ##".
func headingOf(line string) (level int, title string) {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	rest := strings.TrimLeft(line[indent:], "#")
	level = len(line) - indent - len(rest)
	if indent > 3 || level == 0 || level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	title = strings.TrimSpace(rest)
	if bare := strings.TrimRight(title, "#"); bare == "" || strings.HasSuffix(bare, " ") {
		title = strings.TrimSpace(bare)
	}
	return level, title
}

// underline returns the level of the heading that a line of = or - makes of the line above.
func underline(line string) int {
	switch {
	case len(line) >= 2 && strings.Trim(line, "=") == "":
		return 1
	case len(line) >= 2 && strings.Trim(line, "-") == "":
		return 2
	}
	return 0
}

// paragraph reports whether the line above is text.
func (m *markdown) paragraph() bool {
	if m.at < 2 {
		return false
	}
	above := strings.TrimSpace(m.lines[m.at-2])
	return above != "" && !strings.HasPrefix(above, "#") && !strings.HasPrefix(above, ">") && !strings.HasPrefix(above, "- ") &&
		underline(above) == 0 && !strings.HasPrefix(above, "|") && fenceOf(above) == ""
}

// setext makes the line above a heading.
func (m *markdown) setext(level int, line string) error {
	title := m.lines[m.at-2]
	before := strings.TrimSuffix(m.text.String(), title+"\n")
	m.text.Reset()
	m.text.WriteString(before)
	err := m.flush()
	m.heading(level, strings.TrimSpace(title))
	m.keep(title)
	m.keep(line)
	return err
}

func isDelimiterRow(line string) bool {
	line = strings.TrimSpace(line)
	return strings.Contains(line, "-") && strings.Contains(line, "|") && strings.Trim(line, "|-: \t") == ""
}

func (m *markdown) table(header string) error {
	if err := m.flush(); err != nil {
		return err
	}
	m.at++ // the delimiter row
	var rows []string
	for m.at < len(m.lines) && strings.Contains(m.lines[m.at], "|") {
		rows = append(rows, cells(split(m.lines[m.at])))
		m.at++
	}
	if len(rows) == 0 {
		m.keep(header)
		return nil
	}
	return m.add(Section{Kind: Table, Header: cells(split(header)), Text: strings.Join(rows, "\n")})
}

// split takes a row of a table apart.
func split(row string) []string {
	row = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(row), "|"), "|")
	return strings.Split(strings.ReplaceAll(row, `\|`, "\u2502"), "|")
}
