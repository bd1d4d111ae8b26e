// Package toolresult is the shape in which REST shows what a node answered (docs/architecture.md#rest-results).
package toolresult

import (
	"bytes"
	"encoding/json"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// View returns a node's result, which is validated JSON, as callers get it, and whether the tool succeeded. A result with
// `content` gains `text`, and `screenshot_url` in place of `_screenshot`; any other passes as it is. Nothing is decoded:
// what is shown is put together from the bytes that came.
func View(raw json.RawMessage) (result json.RawMessage, success bool) {
	parts, success := Parts(raw)
	if len(parts) == 1 {
		return parts[0], success
	}
	return bytes.Join(parts, nil), success
}

// Parts is [View] without a copy: the result is what the parts are together, and the large ones are parts of raw.
func Parts(raw json.RawMessage) (parts [][]byte, success bool) {
	var content, failed, screenshot []byte
	jsonrpc.Members(raw, func(name, value []byte) {
		switch string(name) {
		case "content":
			content = value
		case "isError":
			failed = value
		case "_screenshot":
			screenshot = value
		}
	})
	success = string(failed) != "true"
	texts, ok := textsOf(content)
	if !ok {
		return [][]byte{raw}, success
	}
	picture := jsonrpc.Inside(screenshot)
	out := splice{own: make([]byte, 0, min(2*len(raw)+spare, 2*small))}
	out.add("{")
	jsonrpc.Members(raw, func(name, value []byte) {
		switch string(name) {
		case "_screenshot", "text":
			return
		case "screenshot_url":
			if len(picture) > 0 {
				return
			}
		}
		out.own = jsonrpc.AppendString(out.own, string(name))
		out.add(":")
		out.put(value)
		out.add(",")
	})
	if len(picture) > 0 {
		out.add(`"screenshot_url":"`)
		out.add(prefix(picture))
		out.put(picture)
		out.add(`",`)
	}
	out.add(`"text":"`)
	for i, text := range texts {
		if i > 0 {
			out.add(`\n`)
		}
		out.put(text)
	}
	out.add(`"}`)
	out.cut()
	return out.parts, success
}

// spare is room for the names that are added.
const spare = 64

// small is the size up to which a copy is cheaper than a part.
const small = 1 << 10

// splice is parts that are put together: bytes of its own, and those of others where they are many.
type splice struct {
	parts [][]byte
	own   []byte
	begun int // where the part of own begins that is not cut off yet
}

func (s *splice) add(text string) { s.own = append(s.own, text...) }

func (s *splice) put(b []byte) {
	if len(b) <= small {
		s.own = append(s.own, b...)
		return
	}
	s.cut()
	s.parts = append(s.parts, b)
}

// cut makes a part of what was added.
func (s *splice) cut() {
	if end := len(s.own); end > s.begun {
		s.parts = append(s.parts, s.own[s.begun:end:end])
		s.begun = end
	}
}

// maxTexts is how many parts of a content count for its text; no honest node has more.
const maxTexts = 4096

// textsOf returns the texts of a content as they are written inside their quotes; ok is false for what is no content.
func textsOf(content []byte) (texts [][]byte, ok bool) {
	if !jsonrpc.IsNull(content) && content[0] != '[' {
		return nil, false
	}
	ok = content != nil
	jsonrpc.Elements(content, func(part []byte) {
		var kind, text []byte
		jsonrpc.Members(part, func(name, value []byte) {
			switch string(name) {
			case "type":
				kind = value
			case "text":
				text = value
			}
		})
		ok = ok && (jsonrpc.IsObject(part) || jsonrpc.IsNull(part)) && isText(kind) && isText(text)
		if string(jsonrpc.Text(kind)) == "text" && len(texts) < maxTexts {
			texts = append(texts, jsonrpc.Inside(text))
		}
	})
	return texts, ok
}

func isText(raw []byte) bool { return jsonrpc.IsNull(raw) || raw[0] == '"' }
