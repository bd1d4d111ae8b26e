package main

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/offlinemodel"

	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
)

// Model is the offline model, at a pace that can be changed, and the service that does so.
type Model struct {
	endpoint  atomic.Pointer[http.Handler]
	listening atomic.Bool
	heard     chan []byte
}

// playModel serves the model until the parent hangs up.
func playModel() error {
	m := &Model{heard: make(chan []byte, 1)}
	if err := m.Pace(0, nil); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", loopback)
	if err != nil {
		return err
	}
	s := &http.Server{Handler: m, ReadHeaderTimeout: 10 * time.Second}
	go func() { slog.Error("model", "error", s.Serve(ln)) }()
	pod := &Pod{Addresses{URL: "http://" + ln.Addr().String() + "/v1"}}
	return proc.Serve(map[string]any{"Pod": pod, "Model": m})
}

// Pace sets the time before each piece of an answer, for questions from now on.
func (m *Model) Pace(d time.Duration, _ *proc.Nothing) error {
	h := offlinemodel.New(offlinemodel.Options{Delay: d})
	m.endpoint.Store(&h)
	return nil
}

// Listen keeps the next question for Heard.
func (m *Model) Listen(_ proc.Nothing, _ *proc.Nothing) error {
	m.listening.Store(true)
	return nil
}

// Heard returns the question, which was asked since.
func (m *Model) Heard(_ proc.Nothing, question *[]byte) error {
	select {
	case *question = <-m.heard:
		return nil
	default:
		return errors.New("nobody has asked the model")
	}
}

// ServeHTTP implements http.Handler.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if m.listening.CompareAndSwap(true, false) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		m.heard <- body
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	(*m.endpoint.Load()).ServeHTTP(w, r)
}
