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
	texts, size, ok := textsOf(content)
	if !ok {
		return raw, success
	}
	picture := inside(screenshot)
	out := append(make([]byte, 0, len(raw)+size+128), '{')
	jsonrpc.Members(raw, func(name, value []byte) {
		switch string(name) {
		case "_screenshot", "text":
			return
		case "screenshot_url":
			if len(picture) > 0 {
				return
			}
		}
		out = append(jsonrpc.AppendString(out, string(name)), ':')
		out = append(append(out, value...), ',')
	})
	if len(picture) > 0 {
		out = append(append(out, `"screenshot_url":"`...), prefix(picture)...)
		out = append(append(out, picture...), `",`...)
	}
	out = append(out, `"text":"`...)
	out = append(out, bytes.Join(texts, []byte(`\n`))...)
	return append(out, `"}`...), success
}

// maxTexts is how many parts of a content count for its text; no honest node has more.
const maxTexts = 4096

// textsOf returns the texts of a content as they are written inside their quotes, and about how long they are together; ok
// is false for what is no content.
func textsOf(content []byte) (texts [][]byte, size int, ok bool) {
	if !jsonrpc.IsNull(content) && content[0] != '[' {
		return nil, 0, false
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
			texts = append(texts, inside(text))
			size += len(text)
		}
	})
	return texts, size, ok
}

func isText(raw []byte) bool { return jsonrpc.IsNull(raw) || raw[0] == '"' }

// inside returns what stands between the quotes of a string; nothing for what is none.
func inside(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	return raw[1 : len(raw)-1]
}

// prefix makes a base64 picture a data: URL; one that is a data: URL already has none. JPEG begins with FF D8 FF.
func prefix(picture []byte) string {
	switch {
	case bytes.HasPrefix(picture, []byte("data:")):
		return ""
	case bytes.HasPrefix(picture, []byte("/9j/")), bytes.HasPrefix(picture, []byte(`\/9j\/`)):
		return "data:image/jpeg;base64,"
	case bytes.HasPrefix(picture, []byte("UklGR")):
		return "data:image/webp;base64,"
	}
	return "data:image/png;base64,"
}
