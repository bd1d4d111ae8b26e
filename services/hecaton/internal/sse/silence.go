package sse

import (
	"io"
	"time"
)

// CloseWhenSilent returns a stream's body that is closed when nothing has arrived for so long: a dead connection would
// otherwise block its reader for ever. The caller still has to close it.
func CloseWhenSilent(body io.ReadCloser, silence time.Duration) io.ReadCloser {
	return &watched{body, silence, time.AfterFunc(silence, func() { _ = body.Close() })}
}

// watched is a body with a timer that starts anew with everything that is read.
type watched struct {
	io.ReadCloser
	silence time.Duration
	alarm   *time.Timer
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.ReadCloser.Read(b)
	w.alarm.Reset(w.silence)
	return n, err
}

func (w *watched) Close() error {
	w.alarm.Stop()
	return w.ReadCloser.Close()
}
