package approval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// Canonical returns a JSON object in the one form that all objects of the same meaning have: keys sorted, no white space,
// strings escaped in one way, numbers as they were written. It refuses what readers of JSON disagree about: doubled keys
// and bytes that are not UTF-8.
//
// A string that holds U+FFFD keeps its text, because that is also what a lone surrogate such as "\ud800" reads as.
func Canonical(object []byte) ([]byte, error) {
	if !utf8.Valid(object) {
		return nil, errors.New("not valid UTF-8")
	}
	if err := jsonrpc.ValidRequest(object); err != nil { // also bounds the depth: each level is copied once more
		return nil, fmt.Errorf("not JSON that can be shown: %w", err)
	}
	c := canonicaliser{text: object, tokens: json.NewDecoder(bytes.NewReader(object))}
	c.tokens.UseNumber()
	first, err := c.tokens.Token()
	if err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	if first != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	return c.object(make([]byte, 0, len(object)))
}

type canonicaliser struct {
	text   []byte
	tokens *json.Decoder
}

// value appends the next value, whose first token is here.
func (c *canonicaliser) value(to []byte, first json.Token) ([]byte, error) {
	switch v := first.(type) {
	case json.Delim:
		if v == '{' {
			return c.object(to)
		}
		return c.array(to)
	case string:
		return append(to, c.quote(v)...), nil
	case json.Number:
		return append(to, v.String()...), nil
	default: // true, false, null
		return append(to, c.raw()...), nil
	}
}

func (c *canonicaliser) object(to []byte) ([]byte, error) {
	type member struct {
		key   string
		value []byte
	}
	var members []member
	for c.tokens.More() {
		token, err := c.tokens.Token()
		if err != nil {
			return nil, fmt.Errorf("read JSON: %w", err)
		}
		m := member{key: string(c.quote(token.(string)))} // json.Valid has seen it: a key is a string
		if token, err = c.tokens.Token(); err == nil {
			m.value, err = c.value(nil, token)
		}
		if err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.key, b.key) })
	to = append(to, '{')
	for i, m := range members {
		if i > 0 {
			if members[i-1].key == m.key {
				return nil, errors.New("an object has the same key twice")
			}
			to = append(to, ',')
		}
		to = append(append(append(to, m.key...), ':'), m.value...)
	}
	return append(to, '}'), c.end()
}

func (c *canonicaliser) array(to []byte) ([]byte, error) {
	to = append(to, '[')
	for first := true; c.tokens.More(); first = false {
		if !first {
			to = append(to, ',')
		}
		token, err := c.tokens.Token()
		if err == nil {
			to, err = c.value(to, token)
		}
		if err != nil {
			return nil, err
		}
	}
	return append(to, ']'), c.end()
}

// end reads the closing bracket.
func (c *canonicaliser) end() error {
	_, err := c.tokens.Token()
	return err
}

// quote writes the string that was just read.
func (c *canonicaliser) quote(s string) []byte {
	if strings.ContainsRune(s, utf8.RuneError) {
		return c.raw()
	}
	quoted, _ := json.Marshal(s) // a string cannot fail
	return quoted
}

// raw is the text of the scalar that was just read.
func (c *canonicaliser) raw() []byte {
	end := int(c.tokens.InputOffset())
	start := end - 1
	if c.text[start] == '"' {
		for start--; ; start-- {
			if c.text[start] == '"' && !escaped(c.text[:start]) {
				break
			}
		}
		return c.text[start:end]
	}
	for start > 0 && c.text[start-1] >= 'a' && c.text[start-1] <= 'z' { // true, false, null
		start--
	}
	return c.text[start:end]
}

// escaped reports whether the byte after text is escaped: an odd number of backslashes stands before it.
func escaped(text []byte) bool {
	return (len(text)-len(bytes.TrimRight(text, `\`)))%2 == 1
}
