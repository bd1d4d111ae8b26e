package http1

import (
	"context"
	"net/http"
	"slices"
	"time"

	"golang.org/x/net/http/httpguts"
)

// response is the way of one answer. It belongs to the handler.
type response struct {
	conn   *conn
	body   *body // nil for none
	header http.Header
	head   bool // the request was HEAD: nothing follows the answer's head

	status   int   // 0 until it is known
	declared int64 // the Content-Length that the handler has set; -1 for none
	written  int64 // by the handler
	typed    bool  // the handler has set Content-Type, or said not to guess
	chunked  bool
	sent     bool // the head is on its way
	last     bool // the connection ends after this answer
	failed   error
	out      output
	later    func(context.Context) // see Later
}

func (w *response) Header() http.Header { return w.header }

func (w *response) WriteHeader(status int) {
	switch {
	case status < 100 || status > 999:
		panic("http1: there is no status of such a number")
	case w.status != 0:
		w.conn.server.log("superfluous WriteHeader")
		return
	case status < 200 && status != http.StatusSwitchingProtocols:
		w.inform(status)
		return
	}
	w.status, w.declared = status, -1
	w.fields()
}

// inform sends an answer that is not the final one.
func (w *response) inform(status int) {
	b := appendStatus(nil, status)
	for name, values := range w.header {
		if name == "Content-Length" || name == "Transfer-Encoding" {
			continue
		}
		b = appendField(b, name, values)
	}
	w.write(append(b, "\r\n"...))
}

// bodyAllowed reports whether an answer of this status may have a body.
func (w *response) bodyAllowed() bool {
	return w.status >= 200 && w.status != http.StatusNoContent && w.status != http.StatusNotModified
}

func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if len(p) == 0 {
		return 0, nil
	}
	if !w.bodyAllowed() {
		return 0, http.ErrBodyNotAllowed
	}
	if w.written += int64(len(p)); w.declared >= 0 && w.written > w.declared {
		return 0, http.ErrContentLength
	}
	if !w.typed {
		w.typed = true
		w.out.head = appendField(w.out.head, "Content-Type", []string{http.DetectContentType(p)})
	}
	switch {
	case w.failed != nil:
	case w.head:
	case w.out.fits(len(p)):
		w.out.gather(p)
	default:
		w.send(p, false)
	}
	if w.failed != nil {
		return 0, w.failed
	}
	return len(p), nil
}

// FlushError sends what there is.
func (w *response) FlushError() error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.send(nil, false)
	return w.failed
}

// Flush implements [http.Flusher].
func (w *response) Flush() { _ = w.FlushError() }

// SetReadDeadline is for a body that is still to come.
func (w *response) SetReadDeadline(t time.Time) error {
	if w.body == nil || w.body.buffered() {
		return nil
	}
	return w.conn.setReadDeadline(t)
}

func (w *response) SetWriteDeadline(t time.Time) error { return w.conn.setWriteDeadline(t) }

// EnableFullDuplex is what a connection does anyway once its head is sent.
func (w *response) EnableFullDuplex() error { return http.ErrNotSupported }

// finish ends the answer and reports whether the connection can go on.
func (w *response) finish() bool {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.send(nil, true)
	wrong := w.declared >= 0 && w.declared != w.written && !w.head && w.bodyAllowed()
	return w.failed == nil && !w.last && !wrong
}

// send writes the head if it is still here, what was gathered, and p, which is not kept.
func (w *response) send(p []byte, end bool) {
	if w.failed != nil {
		return
	}
	if !w.sent {
		w.sent = true
		w.finishHead(end && p == nil)
	}
	w.write(w.out.pack(p, w.chunked, end)...)
	w.out.release()
}

func (w *response) write(pieces ...[]byte) {
	if err := w.conn.write(pieces); err != nil && w.failed == nil {
		w.failed = err
	}
}

// finishHead adds what only the server knows. whole says that the body is what was gathered.
func (w *response) finishHead(whole bool) {
	if w.body != nil {
		w.last = w.last || !w.body.discard()
		w.conn.linger = w.body.unread()
	}
	b := append(append(w.out.head, "Date: "...), now()...)
	b = append(b, "\r\n"...)
	switch {
	case !w.bodyAllowed():
	case w.declared >= 0:
	case whole && (!w.head || w.written > 0):
		b = appendLength(b, w.written)
	case w.head: // nobody knows
	default:
		w.chunked = true
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	}
	if w.last {
		b = append(b, "Connection: close\r\n"...)
	}
	w.out.head = append(b, "\r\n"...)
}

// fields begins the head, with what the handler has set: it may change its map from now on.
func (w *response) fields() {
	w.out.begin()
	b := appendStatus(w.out.head, w.status)
	var few [16]string
	names := few[:0]
	for name := range w.header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		values := w.header[name]
		switch name {
		case "Content-Length":
			n, ok := int64(0), false
			if len(values) == 1 {
				n, ok = parseLength(values[0])
			}
			if !ok || !w.bodyAllowed() && w.status != http.StatusNotModified {
				continue
			}
			w.declared = n
		case "Connection":
			if httpguts.HeaderValuesContainsToken(values, "close") {
				w.last = true
			}
			continue
		case "Transfer-Encoding", "Date":
			continue // the server's own
		case "Content-Type":
			w.typed = true
		case "Content-Encoding":
			w.typed = w.typed || len(values) > 0 && values[0] != ""
		}
		b = appendField(b, name, values)
	}
	w.out.head = b
}
