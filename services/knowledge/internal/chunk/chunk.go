package chunk

import (
	"strings"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/services/knowledge/internal/parse"
)

// Sizes in characters.
const (
	Target  = 1000 // a chunk is closed once the next block would make it longer
	Most    = 1500
	Overlap = 150
)

// Chunk is a passage of a document.
type Chunk struct {
	Content  string
	Page     int // from 1; 0 for none
	Headings []string
	// Repeated is how many characters at the beginning are the end of the chunk before.
	Repeated int
}

// Split cuts sections into chunks, in order.
func Split(sections []parse.Section) []Chunk {
	var out []Chunk
	for _, s := range sections {
		p := packer{add: func(content string, repeated int) {
			out = append(out, Chunk{Content: content, Page: s.Page, Headings: s.Headings, Repeated: repeated})
		}}
		if s.Kind == parse.Table {
			p.table(s.Header, s.Text)
		} else {
			p.prose(s.Text)
		}
	}
	return out
}

// packer puts blocks together until they fill a chunk.
type packer struct {
	add    func(content string, repeated int)
	open   strings.Builder
	length int // of open, in characters
}

// block adds a block that is no longer than Most; between is what parts it from the one before.
func (p *packer) block(text, between string) {
	n := utf8.RuneCountInString(text)
	if p.length > 0 && p.length+len(between)+n > Target {
		p.flush()
	}
	if p.length > 0 {
		p.open.WriteString(between)
		p.length += len(between)
	}
	p.open.WriteString(text)
	p.length += n
}

func (p *packer) flush() {
	if p.length > 0 {
		p.add(p.open.String(), 0)
	}
	p.open.Reset()
	p.length = 0
}

func (p *packer) prose(text string) {
	for _, b := range blocks(text) {
		switch n := utf8.RuneCountInString(b.text); {
		case n <= Most:
			p.block(b.text, "\n\n")
		case b.code:
			p.flush()
			p.code(b.text)
		default:
			p.flush()
			p.cut(b.text)
		}
	}
	p.flush()
}

// cut cuts one paragraph that is too long.
func (p *packer) cut(text string) {
	runes := []rune(text)
	repeated := 0
	for len(runes) > Most {
		end := breakAt(runes, Target)
		p.add(strings.TrimSpace(string(runes[:end])), repeated)
		// The next piece begins with the end of this one, at the beginning of a word where there is one.
		start := end - Overlap
		for i := start; i < end-Overlap/3; i++ {
			if runes[i] == ' ' || runes[i] == '\n' {
				start = i + 1
				break
			}
		}
		for start < end && (runes[start] == ' ' || runes[start] == '\n') {
			start++
		}
		repeated = len([]rune(strings.TrimRight(string(runes[start:end]), " \n")))
		runes = runes[start:]
	}
	p.add(strings.TrimSpace(string(runes)), repeated)
}

// breakAt returns where to end a piece of about n characters: after a sentence, else after a line or word.
func breakAt(runes []rune, n int) int {
	line, word := 0, 0
	for i := n; i > n*6/10; i-- {
		switch c := runes[i-1]; {
		case c == '。' || c == '！' || c == '？' || c == '；':
			return i
		case (c == ' ' || c == '\n') && i >= 2 && strings.ContainsRune(".!?;:", runes[i-2]):
			return i
		case c == '\n' && line == 0:
			line = i
		case (c == ' ' || c == '\t') && word == 0:
			word = i
		}
	}
	switch {
	case line > 0:
		return line
	case word > 0:
		return word
	}
	return n
}

// table cuts rows beneath their header, which each chunk repeats.
func (p *packer) table(header, rows string) {
	room := Most
	if n := utf8.RuneCountInString(header); n > 0 && n <= Target/2 {
		room -= n + 1
	} else if n > Target/2 {
		p.cut(header) // too long to be repeated
		header = ""
	}
	begin := func() {
		if p.length == 0 && header != "" {
			p.block(header, "")
		}
	}
	bare := utf8.RuneCountInString(header) // the length of a chunk that has no row yet
	for row := range strings.SplitSeq(rows, "\n") {
		n := utf8.RuneCountInString(row)
		switch {
		case n == 0:
			continue
		case n > room:
			if p.length > bare {
				p.flush()
			}
			p.open.Reset()
			p.length = 0
			p.cut(row)
			continue
		case p.length > bare && p.length+1+n > Target:
			p.flush()
		}
		begin()
		if p.length > 0 {
			p.open.WriteByte('\n')
			p.length++
		}
		p.open.WriteString(row)
		p.length += n
	}
	if p.length > bare || header == "" {
		p.flush()
	}
	p.open.Reset()
	p.length = 0
}
