package llm

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const maxLine = 1 << 20

var (
	errDone     = errors.New("the endpoint said [DONE]")
	errLine     = &Error{Code: ModelProtocol, Message: "the endpoint sent a line of more than 1 MiB"}
	errNoStream = &Error{Code: ModelProtocol, Message: "the endpoint sent something that is not a stream of events"}
)

// lines reads a stream of events. Every data line is one document: no endpoint spreads a document over several lines, and
// not all put empty lines between them.
type lines struct {
	from *bufio.Reader
	long []byte // a line longer than the reader's buffer
	any  bool   // a line was understood
}

func newLines(r io.Reader) *lines { return &lines{from: bufio.NewReader(r)} }

// next returns the next document, valid until the next call. whole is false for a last document that may be cut off, as the
// stream ended within its line. The error is errDone, or that of the connection.
func (l *lines) next() (document []byte, whole bool, err error) {
	for {
		line, err := l.line()
		whole := err == nil
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
			return nil, false, err
		}
		document, ok := data(bytes.TrimPrefix(line, []byte("\ufeff")))
		switch {
		case !ok && !l.any && whole:
			return nil, false, errNoStream
		case len(document) == 0:
			l.any = l.any || ok
			continue
		case string(document) == "[DONE]":
			return nil, false, errDone
		}
		l.any = true
		return document, whole, nil
	}
}

// data returns the data of a line; ok is false if it is not a line of a stream of events. A bare JSON document counts as data:
// some endpoints report errors like that.
func data(line []byte) (document []byte, ok bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] == ':' {
		return nil, true
	}
	if line[0] == '{' {
		return line, true
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	switch string(field) {
	case "data":
		return bytes.TrimSpace(value), true
	case "event", "id", "retry":
		return nil, true
	}
	return nil, false
}

// line reads one line. It is at most maxLine long, and valid until the next call.
func (l *lines) line() ([]byte, error) {
	l.long = l.long[:0]
	for {
		part, err := l.from.ReadSlice('\n')
		if len(l.long)+len(part) > maxLine {
			return nil, errLine
		}
		if len(l.long) == 0 && !errors.Is(err, bufio.ErrBufferFull) {
			return part, err
		}
		l.long = append(l.long, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.long, err
		}
	}
}
