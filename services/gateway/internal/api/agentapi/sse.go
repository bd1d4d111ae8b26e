package agentapi

import "net/http"

// heartbeat is a comment: it keeps proxies from closing a stream that is silent.
const heartbeat = ": ping\n\n"

// preamble tells clients how long to wait before they come back, in milliseconds.
const preamble = "retry: 2000\n\n"

// piece is about how much is written at once.
const piece = 64 << 10

// writer writes to one client. How long that may take is the edge's business.
type writer struct {
	http.ResponseWriter
	control *http.ResponseController
}

func newWriter(w http.ResponseWriter) *writer { return &writer{w, http.NewResponseController(w)} }

// begin opens a stream of server-sent events.
func (w *writer) begin() error {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // nginx would keep events back
	w.WriteHeader(http.StatusOK)
	return w.send([]byte(preamble))
}

// send writes b and sees that it leaves.
func (w *writer) send(b []byte) error {
	if _, err := w.Write(b); err != nil {
		return err
	}
	return w.control.Flush()
}
