package conn_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// server accepts one connection after the other and runs it with a handler that echoes.
type server struct {
	url    string
	conns  chan *conn.Conn
	ends   chan conn.Reason
	binary atomic.Int32
}

func serve(t *testing.T, change func(*conn.Config)) *server {
	t.Helper()
	s := &server{conns: make(chan *conn.Conn, 10), ends: make(chan conn.Reason, 10)}
	cfg := &conn.Config{
		MaxFrame: 10 << 20, MaxQueued: 16 << 20, WriteTimeout: 5 * time.Second, MaxControlRate: 0,
		Budget: frame.NewBudget(64 << 20), OnDropped: func() { s.binary.Add(1) },
	}
	if change != nil {
		change(cfg)
	}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := conn.Accept(w, r, "", cfg)
		if err != nil {
			return
		}
		s.conns <- c
		c.Serve(context.WithoutCancel(r.Context()), func(b *frame.Buffer) bool {
			defer b.Release()
			_ = c.Send(bytes.Clone(b.Bytes()), nil)
			return len(b.Bytes())%2 == 0 // some are asked for, some not
		}, func(r conn.Reason) { s.ends <- r })
	}))
	t.Cleanup(h.Close)
	s.url = "ws" + strings.TrimPrefix(h.URL, "http")
	return s
}

func dial(t *testing.T, s *server) (*websocket.Conn, *conn.Conn) {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), s.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.CloseNow() })
	ws.SetReadLimit(-1)
	return ws, <-s.conns
}

func reason(t *testing.T, s *server) conn.Reason {
	t.Helper()
	select {
	case r := <-s.ends:
		return r
	case <-time.After(15 * time.Second):
		t.Fatal("the connection did not end")
		return 0
	}
}

func TestFramesOfAnySizeUpToTheLimitPass(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	ws, _ := dial(t, s)
	for _, size := range []int{0, 1, 500, 513, 32 << 10, 200 << 10, 10 << 20} {
		want := bytes.Repeat([]byte("x"), size)
		if err := ws.Write(t.Context(), websocket.MessageText, want); err != nil {
			t.Fatal(err)
		}
		_, got, err := ws.Read(t.Context())
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes came back as %d: %v", size, len(got), err)
		}
	}
}

func TestAFrameOverTheLimitClosesWith1009(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	ws, _ := dial(t, s)
	go func() { _ = ws.Write(t.Context(), websocket.MessageText, make([]byte, 10<<20+1)) }()
	_, _, err := ws.Read(t.Context())
	if websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
		t.Error(err)
	}
	if r := reason(t, s); r != conn.FrameTooBig {
		t.Error(r)
	}
}

func TestBinaryFramesAreCountedAndSurvived(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	ws, _ := dial(t, s)
	_ = ws.Write(t.Context(), websocket.MessageBinary, []byte("binary"))
	_ = ws.Write(t.Context(), websocket.MessageText, []byte("text"))
	if _, got, err := ws.Read(t.Context()); err != nil || string(got) != "text" || s.binary.Load() != 1 {
		t.Errorf("%q, %v, %d binary frames counted", got, err, s.binary.Load())
	}
}

func TestFramesThatComeWithTheHandshakeAreRead(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	nc, err := net.Dial("tcp", strings.TrimPrefix(s.url, "ws://"))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	var request bytes.Buffer
	request.WriteString("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	const frames = 300 // more than the reader's buffer holds
	for range frames {
		request.Write([]byte{0x81, 0x84, 0, 0, 0, 0, 'p', 'i', 'n', 'g'})
	}
	if _, err := nc.Write(request.Bytes()); err != nil {
		t.Fatal(err)
	}
	var got []byte
	buf := make([]byte, 4096)
	_ = nc.SetReadDeadline(time.Now().Add(10 * time.Second))
	for bytes.Count(got, []byte{0x81, 4, 'p', 'i', 'n', 'g'}) < frames {
		n, err := nc.Read(buf)
		if err != nil {
			t.Fatalf("%v after %q", err, got)
		}
		got = append(got, buf[:n]...)
	}
}

func TestCloseSendsCodeAndTextAndTheFirstReasonStays(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	ws, c := dial(t, s)
	ended := make(chan struct{})
	c.OnEnd(func() { close(ended) })
	c.Close(conn.Superseded)
	c.Close(conn.Draining)
	_, _, err := ws.Read(t.Context())
	if int(websocket.CloseStatus(err)) != 4409 || !strings.Contains(err.Error(), "connected again") {
		t.Error(err)
	}
	<-ended
	if r := reason(t, s); r != conn.Superseded {
		t.Error(r)
	}
	if err := c.Send([]byte("x"), nil); !errors.Is(err, conn.ErrClosed) {
		t.Error(err)
	}
	late := make(chan struct{})
	c.OnEnd(func() { close(late) })
	<-late
}

func TestEndsAreNamed(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	ws, _ := dial(t, s)
	_ = ws.Close(websocket.StatusNormalClosure, "")
	if r := reason(t, s); r != conn.ClientClosed {
		t.Errorf("a client that says goodbye: %v", r)
	}
	ws, _ = dial(t, s)
	_ = ws.CloseNow()
	if r := reason(t, s); r != conn.NetworkLost {
		t.Errorf("a client that vanishes: %v", r)
	}
}

func TestAClientThatDoesNotReadIsCut(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*conn.Config){
		"by the size of its queue": func(c *conn.Config) { c.MaxQueued = 1 << 20; c.WriteTimeout = time.Minute },
		"by the write's deadline":  func(c *conn.Config) { c.WriteTimeout = 200 * time.Millisecond },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, change)
			_, c := dial(t, s)
			chunk := make([]byte, 256<<10)
			for range 60 { // more than both socket buffers hold
				if c.Send(chunk, nil) != nil {
					break
				}
			}
			if r := reason(t, s); r != conn.SlowReader {
				t.Error(r)
			}
		})
	}
}

func TestAFloodIsReadAtItsLimit(t *testing.T) {
	t.Parallel()
	s := &server{conns: make(chan *conn.Conn, 1), ends: make(chan conn.Reason, 1)}
	var handled atomic.Int32
	cfg := &conn.Config{MaxFrame: 1 << 20, MaxQueued: 1 << 20, WriteTimeout: time.Second, MaxControlRate: 50, Budget: frame.NewBudget(1 << 20)}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := conn.Accept(w, r, "", cfg)
		if err != nil {
			return
		}
		s.conns <- c
		c.Serve(context.WithoutCancel(r.Context()), func(b *frame.Buffer) bool { b.Release(); handled.Add(1); return false },
			func(r conn.Reason) { s.ends <- r })
	}))
	t.Cleanup(h.Close)
	s.url = "ws" + strings.TrimPrefix(h.URL, "http")
	ws, _ := dial(t, s)
	begin := time.Now()
	for range 200 {
		_ = ws.Write(t.Context(), websocket.MessageText, []byte("x"))
	}
	testkit.Eventually(t, 20*time.Second, func() bool { return handled.Load() == 200 }, "all frames are handled in the end")
	if took := time.Since(begin); took < 2*time.Second {
		t.Errorf("200 frames at 50 a second took %v", took)
	}
	_ = ws.CloseNow()
	reason(t, s) // a reader that is being slowed ends only then
}

type note struct{ begun atomic.Bool }

func (n *note) Writing() { n.begun.Store(true) }

func TestNoFrameBeginsAfterClose(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	_, c := dial(t, s)
	var notes []*note
	chunk := make([]byte, 200<<10)
	for range 40 {
		n := &note{}
		notes = append(notes, n)
		if c.Send(chunk, n) != nil {
			break
		}
	}
	c.Close(conn.GoingAway)
	begun := 0
	for _, n := range notes {
		if n.begun.Load() {
			begun++
		}
	}
	reason(t, s)
	for _, n := range notes {
		if n.begun.Load() {
			begun--
		}
	}
	if begun != 0 {
		t.Errorf("%d frames began after Close returned", -begun)
	}
}

// Who hangs up is gone before anybody reads; who is silent, or has sent something, is there.
func TestGone(t *testing.T) {
	t.Parallel()
	cfg := &conn.Config{MaxFrame: 1 << 10, MaxQueued: 1 << 10, WriteTimeout: 5 * time.Second, Budget: frame.NewBudget(1 << 20)}
	accepted := make(chan *conn.Conn)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := conn.Accept(w, r, "", cfg)
		if err != nil {
			t.Error(err)
		}
		accepted <- c
	}))
	t.Cleanup(h.Close)
	connect := func() (*websocket.Conn, *conn.Conn) {
		ws, _, err := websocket.Dial(t.Context(), h.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = ws.CloseNow() })
		c := <-accepted
		t.Cleanup(func() {
			ended := make(chan conn.Reason)
			c.Close(conn.GoingAway)
			c.Serve(context.WithoutCancel(t.Context()), func(b *frame.Buffer) bool { b.Release(); return false }, func(r conn.Reason) { ended <- r })
			<-ended
		})
		return ws, c
	}
	ws, c := connect()
	if c.Gone() {
		t.Error("a silent client is gone")
	}
	if err := ws.Write(t.Context(), websocket.MessageText, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if c.Gone() {
		t.Error("a client that has sent something is gone")
	}
	ws, c = connect()
	_ = ws.CloseNow()
	testkit.Eventually(t, 10*time.Second, c.Gone, "a client that has hung up is gone")
}
