package mcp

import (
	"bytes"
	"io"
)

// valueWeight is about how many bytes a decoded JSON value takes in memory beside its text.
const valueWeight = 256

// bounded is a body that ends in an error if it would take too much memory: by its bytes, and by how many values there
// are. A list of three million empty objects has nine megabytes, and would take a gigabyte.
type bounded struct {
	body   io.ReadCloser
	left   int64
	scale  scale
	flight *flight
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.flight.setOverflow()
		return 0, &Error{Kind: TooMuch, Message: "the answer is too large"}
	}
	n, err := b.body.Read(p[:min(int64(len(p)), b.left)])
	took := int64(n) + valueWeight*b.scale.values(p[:n])
	if b.left -= took; !b.flight.take(took) {
		b.left = 0
	}
	return n, err
}

func (b *bounded) Close() error { return b.body.Close() }

// scale counts values of JSON that comes in pieces.
type scale struct{ text, escaped bool }

// values returns about how many values begin in the next piece: it counts brackets and separators outside of strings.
func (s *scale) values(p []byte) (n int64) {
	for len(p) > 0 {
		if !s.text {
			i := bytes.IndexByte(p, '"')
			plain := p
			if i >= 0 {
				plain, p, s.text = p[:i], p[i+1:], true
			} else {
				p = nil
			}
			for _, c := range plain {
				if c == ',' || c == '{' || c == '[' {
					n++
				}
			}
			continue
		}
		if s.escaped {
			s.escaped, p = false, p[1:]
			continue
		}
		i := bytes.IndexAny(p, "\"\\")
		if i < 0 {
			return n
		}
		s.text, s.escaped, p = p[i] != '"', p[i] == '\\', p[i+1:]
	}
	return n
}
