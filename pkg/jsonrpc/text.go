package jsonrpc

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns the text of a validated JSON string, without copying where it has no escapes; nil for anything else.
func Text(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	inner := raw[1 : len(raw)-1]
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
