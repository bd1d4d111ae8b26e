package conn

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// pair returns a wire over TCP and the client's side of it.
func pair(t *testing.T, timeout time.Duration) (*wire, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = client.Close(), server.Close() })
	return newWire(server, timeout), client
}

// A frame for which the socket has room sets no timer; one that waits has a deadline, and the next one passes after it.
func TestOnlyWritesThatWaitHaveADeadline(t *testing.T) {
	t.Parallel()
	const timeout = 200 * time.Millisecond
	w, client := pair(t, timeout)
	if n, err := w.write([]byte("small")); n != 5 || err != nil || (w.direct != nil && !w.until.IsZero()) {
		t.Fatalf("%d bytes, %v, deadline %v", n, err, w.until)
	}
	large := bytes.Repeat([]byte("x"), 16<<20)
	read := make(chan []byte, 1)
	go func() {
		got := make([]byte, 5+len(large)+5)
		_, _ = io.ReadFull(client, got)
		read <- got
	}()
	if n, err := w.write(large); n != len(large) || err != nil {
		t.Fatal(n, err)
	}
	if w.until.IsZero() {
		t.Error("a write that waited had no deadline")
	}
	<-time.After(time.Until(w.until) + 10*time.Millisecond)
	if n, err := w.write([]byte("later")); n != 5 || err != nil {
		t.Fatalf("after the deadline of an earlier write: %d bytes, %v", n, err)
	}
	if got := <-read; !bytes.HasPrefix(got, []byte("smallxxx")) || !bytes.HasSuffix(got, []byte("xxxlater")) {
		t.Error("the bytes came in another order")
	}
}

func TestAWriteThatWaitsTooLongFails(t *testing.T) {
	t.Parallel()
	w, _ := pair(t, 50*time.Millisecond)
	n, err := w.write(bytes.Repeat([]byte("x"), 64<<20))
	if timeout := net.Error(nil); !errors.As(err, &timeout) || !timeout.Timeout() || n == 0 {
		t.Errorf("%d bytes, %v", n, err)
	}
}
