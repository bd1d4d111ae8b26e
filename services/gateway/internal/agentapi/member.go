package agentapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// position is how the protos' JSON decoder says where it failed, in runes of a line.
var position = regexp.MustCompile(`\(line (\d+):(\d+)\)`)

// blame returns the decoder's message for clients. Where a value is of a wrong type, it names the member: for lists and
// objects the decoder only says where it stands.
func blame(message string, body []byte) string {
	// The decoder's space is not always the same one.
	message = strings.TrimPrefix(strings.ReplaceAll(message, "\u00a0", " "), "proto: ")
	at := position.FindStringSubmatch(message)
	if at == nil {
		return message
	}
	line, _ := strconv.Atoi(at[1])
	column, _ := strconv.Atoi(at[2])
	if member := memberAt(body, offset(body, line, column)); member != "" {
		return fmt.Sprintf("%s has a wrong type or value: %s", member, message)
	}
	return message
}

// offset returns the byte at a line and column, both counted from 1.
func offset(body []byte, line, column int) (at int) {
	for range line - 1 {
		at += bytes.IndexByte(body[at:], '\n') + 1
	}
	for range column - 1 {
		_, size := utf8.DecodeRune(body[at:])
		at += size
	}
	return at
}

// memberAt returns the path of the value at an offset of a JSON document.
func memberAt(body []byte, at int) string {
	path, _ := seek(json.NewDecoder(bytes.NewReader(body)), "", int64(at))
	return path
}

// seek reads one value; found says that the offset is in it.
func seek(dec *json.Decoder, path string, at int64) (where string, found bool) {
	token, err := dec.Token()
	if err != nil || dec.InputOffset() > at {
		return path, true
	}
	open, nested := token.(json.Delim)
	for n := 0; nested && dec.More(); n++ {
		inner := fmt.Sprintf("%s[%d]", path, n)
		if open == '{' {
			name, err := dec.Token()
			if err != nil {
				return path, true
			}
			inner = strings.TrimPrefix(fmt.Sprintf("%s.%v", path, name), ".")
		}
		if where, found = seek(dec, inner, at); found {
			return where, true
		}
	}
	if nested {
		_, _ = dec.Token() // the end of it
	}
	return path, dec.InputOffset() > at
}
