package http1

import (
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"
)

// output is what of an answer is not written yet: its head, and the beginning of the body. It has blocks only while there is something
// in it.
type output struct {
	blocks     [2]*block
	head, body []byte
	pieces     [4][]byte
}

func (o *output) begin() {
	o.blocks[0] = blocks.Get().(*block)
	o.head = o.blocks[0][:0]
}

func (o *output) fits(n int) bool { return len(o.body)+n <= bufferSize }

func (o *output) gather(p []byte) {
	if o.blocks[1] == nil {
		o.blocks[1] = blocks.Get().(*block)
		o.body = o.blocks[1][:0]
	}
	o.body = append(o.body, p...)
}

func (o *output) release() {
	for _, b := range o.blocks {
		if b != nil {
			blocks.Put(b)
		}
	}
	*o = output{}
}

// pack returns what is to be written, as few pieces as it can be without copying much.
func (o *output) pack(p []byte, chunked, end bool) [][]byte {
	first := o.head
	size := len(o.body) + len(p)
	if chunked && size > 0 {
		first = append(strconv.AppendInt(first, int64(size), 16), "\r\n"...)
	}
	last := ""
	switch {
	case chunked && end && size > 0:
		last = "\r\n0\r\n\r\n"
	case chunked && end:
		last = "0\r\n\r\n"
	case chunked && size > 0:
		last = "\r\n"
	}
	pieces := o.pieces[:0]
	if n := len(o.body); len(first)+n+len(last) <= bufferSize {
		first = append(first, o.body...)
	} else {
		if len(first) > 0 {
			pieces = append(pieces, first)
		}
		first = o.body
	}
	if len(p) == 0 {
		first = append(first, last...)
		last = ""
	}
	if len(first) > 0 {
		pieces = append(pieces, first)
	}
	if len(p) > 0 {
		pieces = append(pieces, p)
	}
	if last != "" {
		pieces = append(pieces, []byte(last))
	}
	return pieces
}

func appendStatus(b []byte, status int) []byte {
	b = strconv.AppendInt(append(b, "HTTP/1.1 "...), int64(status), 10)
	b = append(b, ' ')
	if text := http.StatusText(status); text != "" {
		b = append(b, text...)
	} else {
		b = strconv.AppendInt(append(b, "status code "...), int64(status), 10)
	}
	return append(b, "\r\n"...)
}

var oneLine = strings.NewReplacer("\r", " ", "\n", " ")

// appendField adds a field with each of its values. What would break the head is left out, or made harmless.
func appendField(b []byte, name string, values []string) []byte {
	if !httpguts.ValidHeaderFieldName(name) {
		return b
	}
	for _, v := range values {
		if strings.ContainsAny(v, "\r\n") {
			v = oneLine.Replace(v)
		}
		b = append(append(b, name...), ": "...)
		b = append(append(b, textproto.TrimString(v)...), "\r\n"...)
	}
	return b
}

func appendLength(b []byte, n int64) []byte {
	return append(strconv.AppendInt(append(b, "Content-Length: "...), n, 10), "\r\n"...)
}

// date is the text of a second.
type date struct {
	second int64
	text   string
}

var lastDate atomic.Pointer[date]

// now is the value of the field Date.
func now() string {
	t := time.Now()
	if d := lastDate.Load(); d != nil && d.second == t.Unix() {
		return d.text
	}
	d := &date{t.Unix(), t.UTC().Format(http.TimeFormat)}
	lastDate.Store(d)
	return d.text
}
