package sse

import (
	"io"
	"time"
)

// CloseWhenSilent returns a stream's body, which is closed where nothing can be read of it for so long: a connection that
// has died without a word would keep its reader for ever. Close it all the same.
func CloseWhenSilent(body io.ReadCloser, silence time.Duration) io.ReadCloser {
	return &watched{body, silence, time.AfterFunc(silence, func() { _ = body.Close() })}
}

// watched is a body with an alarm that everything that is read pushes on.
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
