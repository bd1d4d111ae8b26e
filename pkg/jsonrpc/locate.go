package jsonrpc

import "bytes"

// Locate is [Skim] for a frame that was skimmed before, on another pod: it only looks for the ends of values, six times
// as fast. What it makes of a text that is no frame is of no use, but it ends.
func Locate(b []byte) Frame {
	f := Frame{Raw: b}
	i := space(b, 0) + 1 // past the opening bracket
	for {
		i = space(b, i)
		if i >= len(b) || b[i] != '"' {
			return f
		}
		start := i
		i = skipString(b, i)
		name := b[start:i]
		i = space(b, i)
		if i >= len(b) || b[i] != ':' || len(name) < 2 {
			return f
		}
		i = space(b, i+1)
		start = i
		i = skipValue(b, i)
		f.keep(Text(name), b[start:i:i])
		if i = space(b, i); i >= len(b) || b[i] != ',' {
			return f
		}
		i++
	}
}

// skipString returns the end of the string that starts at b[i], a quote.
func skipString(b []byte, i int) int {
	i++
	for {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		quote := i + n
		escapes := 0
		for b[quote-1-escapes] == '\\' { // ends at the opening quote at the latest
			escapes++
		}
		i = quote + 1
		if escapes%2 == 0 {
			return i
		}
	}
}

// skipValue returns the end of the value that starts at b[i].
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			i++
		default: // a number or literal
			i++
			for i < len(b) && b[i] > ' ' && b[i] != ',' && b[i] != '}' && b[i] != ']' {
				i++
			}
		}
		if depth <= 0 {
			return i
		}
	}
	return i
}
