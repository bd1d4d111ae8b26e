package agentapi

import (
	"net/http"
	"time"
)

// heartbeat is a comment: it keeps proxies from closing a stream that is silent.
const heartbeat = ": ping\n\n"

// preamble tells clients how long to wait before they come back, in milliseconds.
const preamble = "retry: 2000\n\n"

// piece is how much is written under one deadline: a slow client gets a large event as long as it reads.
const piece = 64 << 10

// writer writes to one client, each piece under a deadline.
type writer struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
}

func (a *API) newWriter(w http.ResponseWriter) *writer {
	return &writer{w, http.NewResponseController(w), a.cfg.WriteTimeout}
}

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

// Write implements io.Writer.
func (w *writer) Write(b []byte) (n int, err error) {
	for len(b) > 0 && err == nil {
		if err = w.control.SetWriteDeadline(time.Now().Add(w.timeout)); err != nil {
			return n, err
		}
		var wrote int
		wrote, err = w.ResponseWriter.Write(b[:min(piece, len(b))])
		n, b = n+wrote, b[wrote:]
	}
	return n, err
}
