package jsonrpc

import "bytes"

// Locate is [Skim] for a frame that was skimmed before, on another pod: it only looks for the ends of values, six times as
// fast. For a text that is not a frame the result is meaningless, but it returns.
func Locate(b []byte) Frame {
	f := Frame{Raw: b}
	Members(b, f.keep)
	return f
}

// Members yields the members of a validated object as they stand, each name without its quotes and escapes. For a text that
// was not validated the results are meaningless, but it returns.
func Members(object []byte, yield func(name, value []byte)) {
	eachMember(object, space(object, 0), func(name []byte, start, end int) bool {
		yield(name, object[start:end:end])
		return true
	})
}

// Elements is [Members] for a list.
func Elements(list []byte, yield func(element []byte)) {
	eachElement(list, space(list, 0), func(start, end int) bool {
		yield(list[start:end:end])
		return true
	})
}

// eachMember yields where the values of the object at b[i] start and end, until it is told to stop.
func eachMember(b []byte, i int, yield func(name []byte, start, end int) bool) {
	if i >= len(b) || b[i] != '{' {
		return
	}
	for {
		i = space(b, i+1) // past the opening bracket or a comma
		if i >= len(b) || b[i] != '"' {
			return
		}
		start := i
		i = skipString(b, i)
		name := b[start:i]
		i = space(b, i)
		if i >= len(b) || b[i] != ':' || len(name) < 2 {
			return
		}
		if start = space(b, i+1); start >= len(b) {
			return
		}
		i = skipValue(b, start)
		if !yield(Text(name), start, i) {
			return
		}
		if i = space(b, i); i >= len(b) || b[i] != ',' {
			return
		}
	}
}

// eachElement is eachMember for a list.
func eachElement(b []byte, i int, yield func(start, end int) bool) {
	if i >= len(b) || b[i] != '[' {
		return
	}
	for {
		start := space(b, i+1)
		if start >= len(b) || b[start] == ']' {
			return
		}
		i = skipValue(b, start)
		if !yield(start, i) {
			return
		}
		if i = space(b, i); i >= len(b) || b[i] != ',' {
			return
		}
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
