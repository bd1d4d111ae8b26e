package parse

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// readHTML reads what a page shows. It goes by tokens and makes no tree, so its cost does not depend on how deep elements are nested.
func readHTML(raw []byte) ([]Section, error) {
	e, _, _ := charset.DetermineEncoding(raw, "text/html")
	text := with(e, raw)
	if text == "" {
		text = decode(raw)
	}
	p := page{z: html.NewTokenizer(bytes.NewReader([]byte(text)))}
	p.z.SetMaxBuf(1 << 20)
	for {
		err := p.token()
		if errors.Is(err, io.EOF) {
			err := p.finish()
			return p.list, err
		}
		if err != nil {
			return nil, err
		}
	}
}

// finish adds what is still open.
func (p *page) finish() error {
	if err := p.endRow(); err != nil {
		return err
	}
	if p.current.sections != nil {
		if err := p.current.end(); err != nil {
			return err
		}
	}
	return p.flush()
}

// page is a page that is read.
type page struct {
	sections
	z       *html.Tokenizer
	text    strings.Builder
	hidden  atom.Atom // the element whose content is not shown
	title   *strings.Builder
	level   int // of the heading that is open
	tables  int // that are open
	current table
	row     []string
	cell    *strings.Builder
}

func (p *page) token() error {
	kind := p.z.Next()
	if kind == html.ErrorToken {
		if err := p.z.Err(); !errors.Is(err, html.ErrBufferExceeded) {
			return err
		}
		return failure("the HTML has a tag or text of more than 1 MiB")
	}
	switch kind {
	case html.TextToken:
		p.write(string(p.z.Text()))
	case html.StartTagToken, html.SelfClosingTagToken:
		name, _ := p.z.TagName()
		return p.start(atom.Lookup(name), kind == html.SelfClosingTagToken)
	case html.EndTagToken:
		name, _ := p.z.TagName()
		return p.end(atom.Lookup(name))
	}
	return nil
}

func (p *page) write(text string) {
	switch {
	case p.hidden != 0:
	case p.title != nil:
		p.title.WriteString(text)
	case p.cell != nil:
		p.cell.WriteString(text)
	default:
		p.text.WriteString(strings.ReplaceAll(text, "\n", " "))
	}
}

func (p *page) flush() error {
	var lines []string
	for line := range strings.SplitSeq(p.text.String(), "\n") {
		line = strings.Join(strings.Fields(line), " ")
		if line == "" && len(lines) > 0 && lines[len(lines)-1] == "" {
			continue // one blank line parts paragraphs
		}
		lines = append(lines, line)
	}
	p.text.Reset()
	return p.add(Section{Text: strings.Join(lines, "\n")})
}

func (p *page) start(a atom.Atom, closed bool) error {
	if p.hidden != 0 {
		return nil
	}
	switch a {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Head, atom.Title:
		if !closed {
			p.hidden = a
		}
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		err := p.flush()
		p.level, p.title = int(a.String()[1]-'0'), &strings.Builder{}
		return err
	case atom.Table:
		p.tables++
		if p.tables == 1 {
			p.current = table{sections: &p.sections}
			return p.flush()
		}
	case atom.Tr:
		return p.endRow()
	case atom.Td, atom.Th:
		p.endCell()
		if p.tables > 0 {
			p.cell = &strings.Builder{}
		}
	case atom.Br, atom.Li, atom.Dt, atom.Dd, atom.Hr:
		p.write("\n")
		p.text.WriteString("\n")
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Ul, atom.Ol, atom.Pre, atom.Blockquote, atom.Body, atom.Main, atom.Header, atom.Footer, atom.Nav:
		p.text.WriteString("\n\n")
	}
	return nil
}

func (p *page) end(a atom.Atom) error {
	if p.hidden != 0 {
		if a == p.hidden || a == atom.Head {
			p.hidden = 0
		}
		return nil
	}
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		if p.title != nil {
			title := p.title.String()
			p.title = nil
			p.heading(p.level, title)
			p.text.WriteString(strings.Join(strings.Fields(title), " ") + "\n\n")
		}
	case atom.Td, atom.Th:
		p.endCell()
	case atom.Tr:
		return p.endRow()
	case atom.Table:
		err := p.endRow()
		if p.tables = max(p.tables-1, 0); p.tables == 0 && p.current.sections != nil && err == nil {
			err = p.current.end()
		}
		return err
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Ul, atom.Ol, atom.Pre, atom.Blockquote:
		p.text.WriteString("\n\n")
	}
	return nil
}

func (p *page) endCell() {
	if p.cell != nil {
		p.row = append(p.row, p.cell.String())
		p.cell = nil
	}
}

func (p *page) endRow() error {
	p.endCell()
	row := p.row
	p.row = nil
	if len(row) == 0 || p.current.sections == nil {
		return nil
	}
	return p.current.row(row)
}
