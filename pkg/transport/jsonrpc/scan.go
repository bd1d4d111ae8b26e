package jsonrpc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode/utf8"
)

// MaxDepth is how deep arrays and objects may nest in a frame. The deepest frame of any dialect has six levels; a bound
// keeps hostile nesting from reaching decoders that recurse.
const MaxDepth = 512

// MaxRequestDepth is how deep they may nest in what a caller asks of an API.
const MaxRequestDepth = 64

// SyntaxError says where a text stops being JSON.
type SyntaxError struct {
	// Offset is the byte at which the problem was found.
	Offset int
	// Problem says what was wrong there.
	Problem string
	// Deep says that the text may be JSON, which nests too deeply.
	Deep bool
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at byte %d", e.Problem, e.Offset)
}

func bad(i int, problem string) (int, error) { return 0, &SyntaxError{Offset: i, Problem: problem} }

func tooDeep(i, limit int) (int, error) {
	return 0, &SyntaxError{Offset: i, Problem: fmt.Sprintf("nesting deeper than %d", limit), Deep: true}
}

// Valid returns a *[SyntaxError] where b is not exactly one JSON value.
func Valid(b []byte) error { return valid(b, MaxDepth) }

// ValidRequest is [Valid] for what a caller asks of an API, which nests no deeper than [MaxRequestDepth].
func ValidRequest(b []byte) error { return valid(b, MaxRequestDepth) }

func valid(b []byte, depth int) error {
	i := space(b, 0)
	end, err := value(b, i, depth)
	if err != nil {
		return err
	}
	if end = space(b, end); end != len(b) {
		_, err = bad(end, "text after the value")
	}
	return err
}

// nesting remembers, one bit a level, whether the open bracket is an object's.
type nesting struct {
	object [MaxDepth / 64]uint64
	depth  int
	limit  int // at most MaxDepth
}

func (n *nesting) push(object bool) bool {
	if n.depth == n.limit {
		return false
	}
	word, bit := n.depth/64, uint64(1)<<(n.depth%64)
	if object {
		n.object[word] |= bit
	} else {
		n.object[word] &^= bit
	}
	n.depth++
	return true
}

func (n *nesting) inObject() bool {
	d := n.depth - 1
	return n.object[d/64]&(uint64(1)<<(d%64)) != 0
}

// value returns the end of the JSON value that starts at b[i]. It does not recurse.
func value(b []byte, i, depth int) (int, error) {
	if i < len(b) && b[i] != '{' && b[i] != '[' {
		return scalar(b, i)
	}
	return composite(b, i, depth)
}

func composite(b []byte, i, depth int) (int, error) {
	open := nesting{limit: depth}
	var err error
	for {
		// Here a value starts.
		i = space(b, i)
		if i == len(b) {
			return bad(i, "unexpected end")
		}
		switch c := b[i]; c {
		case '{', '[':
			if !open.push(c == '{') {
				return tooDeep(i, depth)
			}
			i = space(b, i+1)
			if i < len(b) && b[i] == c+2 { // '{'+2 == '}', '['+2 == ']'
				i++
				open.depth--
				break
			}
			if c == '{' {
				if i, err = key(b, i); err != nil {
					return 0, err
				}
			}
			continue
		default:
			if i, err = scalar(b, i); err != nil {
				return 0, err
			}
		}
		// Here a value ended: close what ends with it, or find the start of the next.
		for {
			if open.depth == 0 {
				return i, nil
			}
			i = space(b, i)
			if i == len(b) {
				return bad(i, "unexpected end")
			}
			object := open.inObject()
			if b[i] == ',' {
				i = space(b, i+1)
				if object {
					if i, err = key(b, i); err != nil {
						return 0, err
					}
				}
				break
			}
			if object && b[i] != '}' || !object && b[i] != ']' {
				return bad(i, "expected a comma or a closing bracket")
			}
			i++
			open.depth--
		}
	}
}

// key skips an object's key and its colon.
func key(b []byte, i int) (int, error) {
	if i == len(b) || b[i] != '"' {
		return bad(i, "expected a key in quotes")
	}
	i, err := str(b, i)
	if err != nil {
		return 0, err
	}
	if i = space(b, i); i == len(b) || b[i] != ':' {
		return bad(i, "expected a colon")
	}
	return i + 1, nil
}

func scalar(b []byte, i int) (int, error) {
	switch c := b[i]; {
	case c == '"':
		return str(b, i)
	case c == 't':
		return literal(b, i, "true")
	case c == 'f':
		return literal(b, i, "false")
	case c == 'n':
		return literal(b, i, "null")
	case c == '-' || c >= '0' && c <= '9':
		return number(b, i)
	}
	return bad(i, "expected a value")
}

func literal(b []byte, i int, word string) (int, error) {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return bad(i, "expected a value")
	}
	return i + len(word), nil
}

func number(b []byte, i int) (int, error) {
	start := i
	if b[i] == '-' {
		i++
	}
	switch first := digits(b, i); {
	case first == i:
		return bad(start, "malformed number")
	case b[i] == '0' && first > i+1:
		return bad(start, "number with a leading zero")
	default:
		i = first
	}
	if i < len(b) && b[i] == '.' {
		end := digits(b, i+1)
		if end == i+1 {
			return bad(start, "malformed number")
		}
		i = end
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		end := digits(b, i)
		if end == i {
			return bad(start, "malformed number")
		}
		i = end
	}
	return i, nil
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// str returns the end of the string that starts at b[i], a quote. The two searches run on vector instructions, and the
// position of the quote is kept across escapes, so that a string made of escapes still takes linear time.
func str(b []byte, i int) (int, error) {
	start := i
	i++
	quote := -1
	for {
		if quote < i {
			n := bytes.IndexByte(b[i:], '"')
			if n < 0 {
				return bad(start, "string without an end")
			}
			quote = i + n
		}
		escape := bytes.IndexByte(b[i:quote], '\\')
		if escape < 0 {
			if err := plain(b, i, quote); err != nil {
				return 0, err
			}
			return quote + 1, nil
		}
		escape += i
		if err := plain(b, i, escape); err != nil {
			return 0, err
		}
		// quote > escape, so b[escape+1] exists.
		switch b[escape+1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			i = escape + 2
		case 'u':
			i = escape + 6
			if i > len(b) || !hex4(b[escape+2:i]) {
				return bad(escape, "malformed escape")
			}
		default:
			return bad(escape, "malformed escape")
		}
	}
}

func hex4(b []byte) bool {
	for _, c := range b {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return false
		}
	}
	return true
}

const (
	lows  = 0x0101010101010101
	highs = 0x8080808080808080
	// up lifts the printable ASCII bytes of a word, from 0x20 on, over 0x7f, and leaves those below under it.
	up = lows * 0x60
)

func word(s []byte) uint64 { return binary.LittleEndian.Uint64(s) }

// plain refuses control characters and broken UTF-8 in b[from:to]. Printable ASCII, which is all there is in pictures, goes
// eight words at a time.
func plain(b []byte, from, to int) error {
	s := b[from:to]
	for len(s) >= 64 {
		w0, w1, w2, w3 := word(s), word(s[8:]), word(s[16:]), word(s[24:])
		w4, w5, w6, w7 := word(s[32:]), word(s[40:]), word(s[48:]), word(s[56:])
		// Carries of the sums come from bytes that are not ASCII only, and those show in other.
		lifted := (w0 + up) & (w1 + up) & (w2 + up) & (w3 + up) & (w4 + up) & (w5 + up) & (w6 + up) & (w7 + up)
		other := w0 | w1 | w2 | w3 | w4 | w5 | w6 | w7
		if lifted&^other&highs != highs {
			break
		}
		s = s[64:]
	}
	for n, c := range s {
		if c < 0x20 {
			_, err := bad(to-len(s)+n, "control character in a string")
			return err
		}
	}
	if !utf8.Valid(s) {
		_, err := bad(to-len(s), "invalid UTF-8 in a string")
		return err
	}
	return nil
}
