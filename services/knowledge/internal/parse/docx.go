package parse

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// errStop ends a walk early.
var errStop = errors.New("stop")

// readDOCX reads a text document: paragraphs, headings, tables, and pages where the program that wrote it has said where they end.
func readDOCX(r io.ReaderAt, size int64) ([]Section, error) {
	a, err := openArchive(r, size)
	if err != nil {
		return nil, err
	}
	const body = "word/document.xml"
	if !a.has(body) {
		return nil, failure("the file is no DOCX document: it has no %s", body)
	}
	d := docx{headings: map[string]int{}}
	if err := d.styles(a); err != nil {
		return nil, err
	}
	// Pages are those of the last time it was shown; where it was not, only explicit breaks are known.
	err = a.each(body, func(t xml.Token) error {
		if e, ok := t.(xml.StartElement); ok && e.Name.Local == "lastRenderedPageBreak" {
			return errStop
		}
		return nil
	})
	if err != nil && !errors.Is(err, errStop) {
		return nil, err
	}
	d.rendered = err != nil
	if err := a.each(body, d.token); err != nil {
		return nil, err
	}
	err = d.flush()
	if !d.rendered && d.page == 0 { // its pages are not known
		for i := range d.list {
			d.list[i].Page = 0
		}
	}
	return d.list, err
}

// docx is a document that is read.
type docx struct {
	sections
	headings map[string]int // levels of styles
	rendered bool
	page     int // from 0

	text      strings.Builder // paragraphs since the last section
	paragraph strings.Builder
	level     int // of the paragraph, where it is a heading
	inText    bool
	tables    int // that are open
	table     table
	row       []string
	cell      strings.Builder
}

// styles reads which styles are headings.
func (d *docx) styles(a *archive) error {
	id := ""
	return a.each("word/styles.xml", func(t xml.Token) error {
		e, ok := t.(xml.StartElement)
		switch {
		case !ok:
		case e.Name.Local == "style":
			id = attribute(e, "styleId")
		case e.Name.Local == "name":
			if level := levelOf(attribute(e, "val")); level > 0 {
				d.headings[id] = level
			}
		}
		return nil
	})
}

func (d *docx) token(t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		return d.start(t)
	case xml.CharData:
		if d.inText {
			d.paragraph.Write(t)
		}
	case xml.EndElement:
		return d.end(t.Name.Local)
	}
	return nil
}

func (d *docx) start(e xml.StartElement) error {
	switch e.Name.Local {
	case "p":
		d.level = 0
	case "t":
		d.inText = true
	case "tab":
		d.paragraph.WriteByte('\t')
	case "br", "cr":
		if attribute(e, "type") != "page" {
			d.paragraph.WriteByte('\n')
		} else if !d.rendered {
			return d.turn()
		}
	case "lastRenderedPageBreak":
		return d.turn()
	case "pStyle":
		d.level = d.headings[attribute(e, "val")]
	case "tbl":
		if d.tables++; d.tables == 1 {
			err := d.flush()
			d.table = table{sections: &d.sections, page: d.page + 1}
			return err
		}
	}
	return nil
}

func (d *docx) end(name string) error {
	switch name {
	case "t":
		d.inText = false
	case "p":
		return d.endParagraph()
	case "tc":
		if d.tables == 1 {
			d.row = append(d.row, d.cell.String())
			d.cell.Reset()
		}
	case "tr":
		if d.tables == 1 {
			row := d.row
			d.row = nil
			return d.table.row(row)
		}
	case "tbl":
		if d.tables--; d.tables == 0 {
			return d.table.end()
		}
	}
	return nil
}

func (d *docx) endParagraph() error {
	text := strings.TrimSpace(d.paragraph.String())
	d.paragraph.Reset()
	switch {
	case text == "":
	case d.tables > 0:
		d.cell.WriteString(text + " ")
	case d.level > 0:
		err := d.flush()
		d.heading(d.level, text)
		d.text.WriteString(text + "\n\n")
		return err
	default:
		d.text.WriteString(text + "\n\n")
	}
	return nil
}

// turn begins a page.
func (d *docx) turn() error {
	if d.tables > 0 {
		d.page++
		return nil
	}
	if begun := d.paragraph.String(); strings.TrimSpace(begun) != "" {
		d.text.WriteString(begun)
		d.paragraph.Reset()
	}
	err := d.flush()
	d.page++
	return err
}

func (d *docx) flush() error {
	err := d.add(Section{Text: d.text.String(), Page: d.page + 1})
	d.text.Reset()
	return err
}
