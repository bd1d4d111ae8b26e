package jsonrpc

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns the text of a validated JSON string, without copying where it has no escapes; nil for anything else.
func Text(raw []byte) []byte {
	inner := Inside(raw)
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	return unescape(make([]byte, 0, len(inner)), inner) // no escape is shorter than what it stands for
}

// unescape appends the text of a string's inside. As in package encoding/json, half of a surrogate pair becomes U+FFFD.
func unescape(b, inner []byte) []byte {
	for len(inner) > 0 {
		n := bytes.IndexByte(inner, '\\')
		if n < 0 || n+1 >= len(inner) {
			return append(b, inner...)
		}
		b = append(b, inner[:n]...)
		c := inner[n+1]
		inner = inner[n+2:]
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r := rune4(inner)
			inner = inner[min(4, len(inner)):]
			if utf16.IsSurrogate(r) {
				if len(inner) >= 6 && inner[0] == '\\' && inner[1] == 'u' {
					if whole := utf16.DecodeRune(r, rune4(inner[2:])); whole != utf8.RuneError {
						b, inner = utf8.AppendRune(b, whole), inner[6:]
						continue
					}
				}
				r = utf8.RuneError
			}
			b = utf8.AppendRune(b, r)
			continue
		}
		b = append(b, c)
	}
	return b
}

// rune4 reads the four digits of an escape.
func rune4(b []byte) (r rune) {
	if len(b) < 4 {
		return utf8.RuneError
	}
	for _, c := range b[:4] {
		switch {
		case c >= 'a':
			c -= 'a' - 10
		case c >= 'A':
			c -= 'A' - 10
		default:
			c -= '0'
		}
		r = r<<4 | rune(c&15)
	}
	return r
}

const hex = "0123456789abcdef"

// Inside returns what stands between the quotes of a JSON string, as it is written there; nothing for a value that is no string. It is a
// part of raw.
func Inside(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	return raw[1 : len(raw)-1]
}

// AppendString appends s as a JSON string on one line, as package encoding/json writes it, without the escapes that only
// HTML needs. What is not UTF-8 becomes U+FFFD.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0 // of what is not yet written
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = appendEscape(append(b, s[start:i]...), c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(append(b, s[start:i]...), `\ufffd`...)
			start = i + size
		case r == '\u2028' || r == '\u2029': // ends a line in JavaScript
			b = append(append(b, s[start:i]...), `\u202`...)
			b = append(b, hex[r&15])
			start = i + size
		}
		i += size
	}
	return append(append(b, s[start:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
