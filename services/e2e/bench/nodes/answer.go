package nodes

import (
	"bytes"
	"fmt"
	"net"
	"strings"
)

// Around the data of a result: an image, as most large results are.
const (
	resultHead = `{"content":[{"type":"image","data":"`
	resultTail = `","mimeType":"image/png"}],"isError":false}`
)

// Around the id of an answer.
const (
	answerHead = `{"jsonrpc":"2.0","id":"`
	answerBody = `","result":`
)

// AnswerSize returns the size of a whole answer frame with a result of the given size, to a call with the given id.
func AnswerSize(result int, id string) int {
	return len(answerHead) + len(id) + len(answerBody) + result + len("}")
}

// answer is the part of an answer that is the same for every call.
type answer struct{ tail []byte }

// newAnswer makes an answer whose result has size bytes.
func newAnswer(size int) (*answer, error) {
	data := size - len(resultHead) - len(resultTail)
	if data < 0 {
		return nil, fmt.Errorf("a result has at least %d bytes, not %d", len(resultHead)+len(resultTail), size)
	}
	const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	tail := append(make([]byte, 0, size+16), answerBody+resultHead...)
	for i := range data {
		tail = append(tail, base64[(i*i+i>>6)%len(base64)])
	}
	return &answer{append(tail, resultTail+"}"...)}, nil
}

// Around the text of a result.
const (
	textHead = `{"content":[{"type":"text","text":"`
	textTail = `"}],"isError":false}`
)

// TextSize returns the size of a result whose text has size bytes.
func TextSize(size int) int { return len(textHead) + size + len(textTail) }

// newText makes an answer whose result is a text of size bytes.
func newText(size int) *answer {
	return &answer{[]byte(answerBody + textHead + strings.Repeat("x", size) + textTail + "}")}
}

// small is the size up to which a copy is cheaper than a separate part of a write.
const small = 4 << 10

// queue is what a node is about to write: parts for one write.
type queue struct {
	parts net.Buffers
	own   []byte // headers and small answers; parts point into it
}

// add appends the answer to a call.
func (q *queue) add(id []byte, a *answer) {
	start := len(q.own)
	q.own = appendHeader(q.own, opText, len(answerHead)+len(id)+len(a.tail))
	q.own = append(append(q.own, answerHead...), id...)
	if len(a.tail) > small {
		q.parts = append(q.parts, q.own[start:len(q.own):len(q.own)], a.tail)
		return
	}
	q.own = append(q.own, a.tail...)
	q.parts = append(q.parts, q.own[start:len(q.own):len(q.own)])
}

// flush writes what was added.
func (q *queue) flush(w *wire) error {
	if len(q.parts) == 0 {
		return nil
	}
	parts := q.parts // WriteTo consumes the slice it is called on
	_, err := parts.WriteTo(w.Conn)
	q.parts, q.own = q.parts[:0], q.own[:0]
	return err
}

// callID returns the id of a call's frame, nil for any other frame.
func callID(frame []byte) []byte {
	const key = `"id":"`
	_, rest, found := bytes.Cut(frame, []byte(key))
	if !found {
		return nil
	}
	id, _, found := bytes.Cut(rest, []byte(`"`))
	if !found {
		return nil
	}
	return id
}
