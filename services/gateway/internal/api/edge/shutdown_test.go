package edge_test

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/security/connlimit"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

type routes struct{ http.HandlerFunc }

func (r routes) Routes(mux *http.ServeMux) { mux.Handle("POST /x", r) }

// TestShutdownAnswersWhoWasConnected: who had a connection when the server was stopped gets an answer, although nobody had
// accepted it yet; who comes later has no connection.
func TestShutdownAnswersWhoWasConnected(t *testing.T) {
	t.Parallel()
	for range 10 {
		stopOnce(t)
	}
}

func stopOnce(t *testing.T) {
	t.Helper()
	limit, err := connlimit.New(connlimit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := edge.New("127.0.0.1:0", slog.New(slog.DiscardHandler), limit, func(h http.Handler) http.Handler { return h },
		routes{func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }})
	if err := s.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	var clients sync.WaitGroup
	var stopping atomic.Bool
	stop := make(chan struct{})
	for range 64 {
		clients.Go(func() {
			for !stopping.Load() {
				c, err := (&net.Dialer{Timeout: 100 * time.Millisecond}).Dial("tcp", s.Addr())
				if err != nil {
					return
				}
				_, _ = io.WriteString(c, "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
				resp, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil {
					t.Errorf("a request whose connection was open: %v", err)
				} else {
					_ = resp.Body.Close()
				}
				_ = c.Close()
			}
		})
	}
	go func() { served <- s.Serve(t.Context()) }()
	time.AfterFunc(50*time.Millisecond, func() { close(stop) })
	<-stop
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	stopping.Store(true)
	clients.Wait()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
