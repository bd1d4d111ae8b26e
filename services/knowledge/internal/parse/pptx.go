package parse

import (
	"encoding/xml"
	"io"
	"path"
	"strings"
)

// readPPTX reads the slides of a presentation in their order; each is a page.
func readPPTX(r io.ReaderAt, size int64) ([]Section, error) {
	a, err := openArchive(r, size)
	if err != nil {
		return nil, err
	}
	const main = "ppt/presentation.xml"
	if !a.has(main) {
		return nil, failure("the file is no PPTX presentation: it has no %s", main)
	}
	files := map[string]string{} // by relation
	if err := a.each("ppt/_rels/presentation.xml.rels", func(t xml.Token) error {
		if e, ok := t.(xml.StartElement); ok && e.Name.Local == "Relationship" {
			files[attribute(e, "Id")] = path.Join("ppt", attribute(e, "Target"))
		}
		return nil
	}); err != nil {
		return nil, err
	}
	var slides []string
	if err := a.each(main, func(t xml.Token) error {
		if e, ok := t.(xml.StartElement); ok && e.Name.Local == "sldId" {
			for _, at := range e.Attr {
				if at.Name.Space == "r" && at.Name.Local == "id" {
					slides = append(slides, files[at.Value])
				}
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	var s sections
	for i, name := range slides {
		one := slide{}
		if err := a.each(name, one.token); err != nil {
			return nil, err
		}
		s.path = nil
		if one.title != "" {
			s.heading(1, one.title)
		}
		if err := s.add(Section{Text: one.text.String(), Page: i + 1}); err != nil {
			return nil, err
		}
	}
	return s.list, nil
}

// slide is one that is read.
type slide struct {
	text      strings.Builder
	paragraph strings.Builder
	title     string
	isTitle   bool // of the shape that is open
	inText    bool
}

func (s *slide) token(t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		switch t.Name.Local {
		case "sp":
			s.isTitle = false
		case "ph":
			kind := attribute(t, "type")
			s.isTitle = kind == "title" || kind == "ctrTitle"
		case "t":
			s.inText = true
		case "br":
			s.paragraph.WriteByte('\n')
		}
	case xml.CharData:
		if s.inText {
			s.paragraph.Write(t)
		}
	case xml.EndElement:
		switch t.Name.Local {
		case "t":
			s.inText = false
		case "p":
			s.end()
		}
	}
	return nil
}

// end ends a paragraph.
func (s *slide) end() {
	text := strings.TrimSpace(s.paragraph.String())
	s.paragraph.Reset()
	if text == "" {
		return
	}
	if s.isTitle {
		s.title = strings.TrimSpace(s.title + " " + text)
	}
	s.text.WriteString(text + "\n\n")
}
