package http1_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/security/connlimit"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/http1"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// server is one that serves a handler at addr.
type server struct {
	*http1.Server
	addr   string
	served chan error
}

// start serves h until the test ends. change, which may be nil, changes the server below.
func start(t testing.TB, h http.Handler, change func(*http.Server)) *server {
	t.Helper()
	below := &http.Server{
		Handler: h, ConnContext: connlimit.Context, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
	}
	if change != nil {
		change(below)
	}
	front, err := http1.New(below)
	if err != nil {
		t.Fatal(err)
	}
	ln := listen(t)
	s := &server{Server: front, addr: ln.Addr().String(), served: make(chan error, 1)}
	go func() { s.served <- s.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		_ = s.Shutdown(ctx) // a test may have done it
		if err := <-s.served; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve ended with %v", err)
		}
	})
	return s
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limit, err := connlimit.New(connlimit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return limit.Listen(ln)
}

// client is one that writes and reads what a test says.
type client struct {
	*net.TCPConn
	t  testing.TB
	in *bufio.Reader
}

func dial(t testing.TB, addr string) *client {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return &client{c.(*net.TCPConn), t, bufio.NewReader(c)}
}

func (c *client) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
}

// reply is an answer.
type reply struct {
	status int
	body   string
	closes bool // the connection ends after it
}

// reply reads one answer whole.
func (c *client) reply() reply {
	c.t.Helper()
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return reply{resp.StatusCode, string(body), resp.Close}
}

// ended reads up to the connection's end.
func (c *client) ended() (rest string, err error) {
	b, err := io.ReadAll(c.in)
	return string(b), err
}

func get(path string, fields ...string) string { return request("GET", path, "", fields...) }

func request(method, path, body string, fields ...string) string {
	var b strings.Builder
	b.WriteString(method + " " + path + " HTTP/1.1\r\nHost: x\r\n")
	for _, f := range fields {
		b.WriteString(f + "\r\n")
	}
	return b.String() + "\r\n" + body
}
