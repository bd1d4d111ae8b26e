package parse

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// Bounds of an Office file, which is a zip of XML. What a zip says of its sizes is not believed.
const (
	maxMember  = 64 << 20 // bytes of one member, unpacked
	maxMembers = 10_000   // in the zip
	maxDepth   = 256      // of elements
)

// archive is an Office file.
type archive struct{ *zip.Reader }

func openArchive(r io.ReaderAt, size int64) (*archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, failure("the file is not an Office document: %v", err)
	}
	if len(z.File) > maxMembers {
		return nil, failure("the document has %d parts, at most %d are read", len(z.File), maxMembers)
	}
	return &archive{z}, nil
}

// xml returns a decoder of a member; nil where there is none.
func (a *archive) xml(name string) (*xml.Decoder, io.Closer, error) {
	for _, f := range a.File {
		if f.Name != name {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil, nil, failure("%s cannot be unpacked: %v", name, err)
		}
		d := xml.NewDecoder(&bounded{r, maxMember, name})
		d.Strict = false
		return d, r, nil
	}
	return nil, io.NopCloser(nil), nil
}

// bounded fails with a *Failure where there is more than was allowed.
type bounded struct {
	io.Reader
	left int64
	name string
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, failure("TOO_LARGE: %s has more than %d MiB unpacked", b.name, maxMember>>20)
	}
	return n, err
}

// each calls f for every start, text and end of the member's XML.
func (a *archive) each(name string, f func(xml.Token) error) error {
	d, closer, err := a.xml(name)
	if err != nil || d == nil {
		return err
	}
	defer closer.Close()
	for depth := 0; ; {
		t, err := d.RawToken() // namespaces are of no interest, and entities are not expanded
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			var own *Failure
			if errors.As(err, &own) {
				return own
			}
			return failure("%s cannot be read: %v", name, err)
		}
		switch t.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return failure("%s has elements nested more than %d deep", name, maxDepth)
			}
		case xml.EndElement:
			depth--
		}
		if err := f(t); err != nil {
			return err
		}
	}
}

// attribute returns one of an element, by its local name.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// has reports whether there is a member.
func (a *archive) has(name string) bool {
	for _, f := range a.File {
		if f.Name == name {
			return true
		}
	}
	return false
}

// levelOf reads "heading 2", the name that a style of headings has in every language.
func levelOf(style string) int {
	rest, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(style)), "heading")
	if rest = strings.TrimSpace(rest); !ok || len(rest) != 1 || rest[0] < '1' || rest[0] > '9' {
		if strings.EqualFold(style, "title") {
			return 1
		}
		return 0
	}
	return min(int(rest[0]-'0'), 6)
}
