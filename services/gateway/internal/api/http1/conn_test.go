package http1_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/http1"
)

// waiter is a handler that waits for its client's end, and says when it has begun and how it ended.
func waiter(begun chan<- struct{}, ended chan<- error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-r.Context().Done()
		ended <- r.Context().Err()
	}
}

// TestAClientThatGoesAwayEndsItsRequest: whichever way it goes, and whatever it sent before that nobody has read.
func TestAClientThatGoesAwayEndsItsRequest(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*client){
		"closed":      func(c *client) { _ = c.Close() },
		"reset":       func(c *client) { _ = c.SetLinger(0); _ = c.Close() },
		"half closed": func(c *client) { _ = c.CloseWrite() },
		"pipelined":   func(c *client) { c.send(get("/next")); _ = c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun, ended := make(chan struct{}, 2), make(chan error, 2)
			s := start(t, waiter(begun, ended), nil)
			c := dial(t, s.addr)
			c.send(get("/"))
			<-begun
			leave(c)
			select {
			case err := <-ended:
				if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			case <-time.After(10 * time.Second):
				t.Error("nobody noticed")
			}
		})
	}
}

// TestAContextEndsWithItsRequest: what a handler left behind hears of the request's end, and the next request is not touched by it.
func TestAContextEndsWithItsRequest(t *testing.T) {
	t.Parallel()
	contexts := make(chan context.Context, 2)
	s := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { contexts <- r.Context() }), nil)
	c := dial(t, s.addr)
	c.send(get("/1"))
	c.reply()
	first := <-contexts
	<-first.Done()
	c.send(get("/2"))
	c.reply()
	if second := <-contexts; second == first {
		t.Error("two requests have one context")
	}
}

// TestASlowHeadIsNotWaitedFor: neither for its first byte nor for its last, however regularly it comes.
func TestASlowHeadIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	s := start(t, http.HandlerFunc(handler), func(h *http.Server) { h.ReadHeaderTimeout = 200 * time.Millisecond })
	for name, begin := range map[string]string{"nothing": "", "a beginning": "GET / HTTP/1.1\r\nX: ", "after a request": get("/") + "GET / HTTP/1.1\r\nX: "} {
		c := dial(t, s.addr)
		c.send(begin)
		stop := make(chan struct{})
		go func() {
			for begin != "" {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
					if _, err := io.WriteString(c, "x"); err != nil {
						return
					}
				}
			}
		}()
		began := time.Now()
		_, err := c.ended()
		if close(stop); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: still there after %v", name, time.Since(began))
		}
	}
}

func TestAnIdleConnectionIsClosed(t *testing.T) {
	t.Parallel()
	const idle = 300 * time.Millisecond
	s := start(t, http.HandlerFunc(handler), func(h *http.Server) { h.IdleTimeout = idle })
	c := dial(t, s.addr)
	for range 4 { // as long as it is used, it stays
		c.send(get("/"))
		c.reply()
		testkit.Pass(idle / 2)
	}
	began := time.Now()
	if _, err := c.ended(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < idle/4 {
		t.Errorf("closed after %v", took)
	}
}

// TestWhoDoesNotReadIsLeft: a write deadline holds for a client that has no room for more, and only then.
func TestWhoDoesNotReadIsLeft(t *testing.T) {
	t.Parallel()
	failed := make(chan error, 1)
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		part := []byte(strings.Repeat("x", 64<<10))
		for {
			_ = control.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
			if _, err := w.Write(part); err != nil {
				failed <- err
				return
			}
		}
	}), nil)
	c := dial(t, s.addr)
	_ = c.SetReadBuffer(4096)
	c.send(get("/"))
	select {
	case err := <-failed:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it was waited for")
	}
}

// TestADeadlineForABody: it holds for what is still to come, and is over with the request.
func TestADeadlineForABody(t *testing.T) {
	t.Parallel()
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		_, err := io.ReadAll(r.Body)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			w.WriteHeader(http.StatusRequestTimeout)
		}
	}), nil)
	c := dial(t, s.addr)
	c.send(request("POST", "/", "abc", "Content-Length: 3"))
	if got := c.reply(); got.status != http.StatusOK {
		t.Error(got)
	}
	testkit.Pass(150 * time.Millisecond)
	c.send(request("POST", "/", "abc", "Content-Length: 30"))
	if got := c.reply(); got.status != http.StatusRequestTimeout || !got.closes {
		t.Error(got)
	}
}

// TestUpgradesAreHandedOver with everything that came, also after ordinary requests.
func TestUpgradesAreHandedOver(t *testing.T) {
	t.Parallel()
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			return
		}
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		_ = rw.Flush()
		line, _ := rw.ReadString('\n')
		_, _ = io.WriteString(conn, line)
	}), nil)
	for _, before := range []string{"", get("/")} {
		c := dial(t, s.addr)
		c.send(before + get("/", "Connection: Upgrade", "Upgrade: echo") + "early\n")
		if before != "" {
			c.reply()
		}
		if resp, err := http.ReadResponse(c.in, nil); err != nil || resp.StatusCode != http.StatusSwitchingProtocols { //nolint:bodyclose // it has none
			t.Fatal(resp, err)
		}
		if rest, err := c.ended(); rest != "early\n" {
			t.Errorf("%q %v", rest, err)
		}
	}
}

// TestLater: an answer goes on after its handler has returned, ends with its client, and its connection is used again.
func TestLater(t *testing.T) {
	t.Parallel()
	say, left := make(chan string), make(chan struct{}, 1)
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/later" {
			_, _ = io.WriteString(w, "usual")
			return
		}
		_, _ = io.WriteString(w, "first ")
		w.(http.Flusher).Flush()
		if !http1.Later(struct{ unwrapper }{unwrapper{w}}, func(ctx context.Context) {
			defer func() { left <- struct{}{} }()
			for {
				select {
				case text, ok := <-say:
					if !ok {
						return
					}
					_, _ = io.WriteString(w, text)
					w.(http.Flusher).Flush()
				case <-ctx.Done():
					return
				}
			}
		}) {
			t.Error("it is not this package's")
		}
	}), nil)
	gone := dial(t, s.addr)
	gone.send(get("/later"))
	if _, err := gone.in.ReadString(' '); err != nil {
		t.Fatal(err)
	}
	_ = gone.Close()
	<-left
	c := dial(t, s.addr)
	c.send(get("/later") + get("/usual"))
	say <- "second"
	close(say)
	if got := c.reply(); got.body != "first second" {
		t.Error(got)
	}
	if got := c.reply(); got.body != "usual" {
		t.Error(got)
	}
	<-left
	if http1.Later(struct{ http.ResponseWriter }{}, nil) {
		t.Error("another writer is taken for this package's")
	}
}

type unwrapper struct{ http.ResponseWriter }

func (u unwrapper) Unwrap() http.ResponseWriter { return u.ResponseWriter }

// TestShutdown: who waits for nothing is closed, who waits for an answer gets it, and nobody else comes.
func TestShutdown(t *testing.T) {
	t.Parallel()
	begun, goOn := make(chan struct{}), make(chan struct{})
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			begun <- struct{}{}
			<-goOn
		}
		_, _ = io.WriteString(w, "answer")
	}), nil)
	idle, busy, fresh := dial(t, s.addr), dial(t, s.addr), dial(t, s.addr)
	idle.send(get("/"))
	idle.reply()
	busy.send(get("/wait"))
	<-begun
	stopped := make(chan error, 1)
	go func() { stopped <- s.Shutdown(t.Context()) }()
	if _, err := idle.ended(); err != nil {
		t.Error("the idle one:", err)
	}
	_, _ = fresh.ended()
	select {
	case err := <-stopped:
		t.Fatal("it did not wait:", err)
	default:
	}
	close(goOn)
	if got := busy.reply(); got.body != "answer" {
		t.Error(got)
	}
	if _, err := busy.ended(); err != nil {
		t.Error("the busy one:", err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestShutdownCutsOff what goes on for too long.
func TestShutdownCutsOff(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan struct{}, 1), make(chan error, 1)
	s := start(t, waiter(begun, ended), nil)
	c := dial(t, s.addr)
	c.send(get("/"))
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if err := <-ended; err == nil {
		t.Error("its request went on")
	}
}

// TestManyAtOnce: connections do not get each other's bytes, whatever buffers they share.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	}), nil)
	var wrong atomic.Int32
	done := make(chan struct{})
	const clients = 16
	for i := range clients {
		c := dial(t, s.addr)
		go func() {
			defer func() { done <- struct{}{} }()
			for n := range 200 {
				text := strings.Repeat(string(rune('a'+i)), n*37%9000)
				if _, err := io.WriteString(c, request("POST", "/", text, "Content-Length: "+strconv.Itoa(len(text)))); err != nil {
					wrong.Add(1)
					return
				}
				resp, err := http.ReadResponse(c.in, nil)
				if err != nil {
					wrong.Add(1)
					return
				}
				got, _ := io.ReadAll(bufio.NewReader(resp.Body))
				_ = resp.Body.Close()
				if string(got) != text {
					wrong.Add(1)
				}
			}
		}()
	}
	for range clients {
		<-done
	}
	if n := wrong.Load(); n > 0 {
		t.Errorf("%d answers were another's", n)
	}
}
