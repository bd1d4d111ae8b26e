package inbox_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/inbox"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// pair is a connection: what is written at one end is read from the inbox of the other.
func pair(t *testing.T) (*inbox.Inbox, net.Conn, net.Conn) {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	far, err := new(net.Dialer).DialContext(t.Context(), "tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	near, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = far.Close(), near.Close() })
	in, err := inbox.New(near)
	if err != nil {
		t.Fatal(err)
	}
	return in, near, far
}

// TestEveryByteInItsOrder, whatever the sizes of reads and writes.
func TestEveryByteInItsOrder(t *testing.T) {
	t.Parallel()
	sent := make([]byte, 1<<20)
	for i := range sent {
		sent[i] = byte(i * 7 >> 3)
	}
	for _, size := range []int{1, 100, 5000, 70_000} {
		in, _, far := pair(t)
		go func() {
			for rest := sent; len(rest) > 0; {
				n := min(len(rest), 3000)
				_, _ = far.Write(rest[:n])
				rest = rest[n:]
			}
			_ = far.Close()
		}()
		var got bytes.Buffer
		if _, err := io.CopyBuffer(struct{ io.Writer }{&got}, struct{ io.Reader }{in}, make([]byte, size)); err != nil {
			t.Error(err)
		}
		if !bytes.Equal(got.Bytes(), sent) {
			t.Errorf("reads of %d bytes: %d bytes came, or others", size, got.Len())
		}
	}
}

func TestFillGathers(t *testing.T) {
	t.Parallel()
	in, near, far := pair(t)
	for _, part := range []string{"one ", "two ", "three"} {
		before := in.Len()
		_, _ = io.WriteString(far, part)
		if err := in.Fill(); err != nil || in.Len() != before+len(part) {
			t.Fatal(in.Len(), err)
		}
	}
	if in.Skip(4); string(in.Bytes()) != "two three" {
		t.Errorf("%q", in.Bytes())
	}
	if n := in.Skip(100); n != 9 || in.Len() != 0 || len(in.Bytes()) != 0 {
		t.Error(n, in.Len())
	}
	_ = near.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if err := in.Fill(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	_ = near.SetReadDeadline(time.Time{})
	_, _ = io.WriteString(far, "end")
	_ = far.Close()
	all, err := io.ReadAll(in)
	if string(all) != "end" || err != nil {
		t.Errorf("%q %v", all, err)
	}
	_ = near.Close()
	if err := in.Fill(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

func TestWithoutASocket(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if _, err := inbox.New(a); err == nil {
		t.Error("a pipe has no socket")
	}
}
