package agentapi

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
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
	if member := jsonrpc.PathAt(body, offset(body, line, column)); member != "" {
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
