package hostile_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// raw is a WebSocket client that breaks rules: it writes and reads exactly what a test says.
type raw struct {
	t    testing.TB
	conn *net.TCPConn
	in   *bufio.Reader
	resp *http.Response // to the upgrade request
}

// Opcodes of RFC 6455.
const (
	opContinuation = 0x0
	opText         = 0x1
	opBinary       = 0x2
	opClose        = 0x8
	opPing         = 0x9
	opPong         = 0xa
	final          = 0x80
)

// dialRaw upgrades a connection; headers end with CR LF each, and early are bytes that follow the request at once.
func dialRaw(t testing.TB, g *cluster.Gateway, target, headers string, early []byte) *raw {
	t.Helper()
	conn, err := net.Dial("tcp", g.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	r := &raw{t: t, conn: conn.(*net.TCPConn), in: bufio.NewReader(conn)}
	r.write(append([]byte("GET "+target+" HTTP/1.1\r\nHost: "+g.HTTP+"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"+headers+"\r\n"), early...))
	r.resp, err = http.ReadResponse(r.in, nil) //nolint:bodyclose // closed by the cleanup below
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.resp.Body.Close() })
	return r
}

// masked returns one WebSocket frame; the first byte holds the flags and the opcode.
func masked(first byte, payload []byte) []byte {
	head := []byte{first}
	switch n := len(payload); {
	case n < 126:
		head = append(head, 0x80|byte(n))
	case n <= 0xffff:
		head = binary.BigEndian.AppendUint16(append(head, 0x80|126), uint16(n))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 0x80|127), uint64(n))
	}
	head = append(head, 0, 0, 0, 0) // a mask of zeros leaves the payload as it is
	return append(head, payload...)
}

func (r *raw) write(b []byte) {
	r.t.Helper()
	if _, err := r.conn.Write(b); err != nil {
		r.t.Fatal(err)
	}
}

func (r *raw) text(frame string) {
	r.t.Helper()
	r.write(masked(final|opText, []byte(frame)))
}

// next reads one frame that is no server ping.
func (r *raw) next() (opcode byte, payload string) {
	r.t.Helper()
	_ = r.conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	for {
		var head [2]byte
		if _, err := io.ReadFull(r.in, head[:]); err != nil {
			r.t.Fatal(err)
		}
		size := uint64(head[1])
		switch size {
		case 126:
			var n uint16
			_ = binary.Read(r.in, binary.BigEndian, &n)
			size = uint64(n)
		case 127:
			_ = binary.Read(r.in, binary.BigEndian, &size)
		}
		b := make([]byte, size)
		if _, err := io.ReadFull(r.in, b); err != nil {
			r.t.Fatal(err)
		}
		if head[0] != final|opText || string(b) != `{"type":"ping"}` {
			return head[0], string(b)
		}
	}
}

func (r *raw) expect(opcode byte, payload string) {
	r.t.Helper()
	if op, got := r.next(); op != final|opcode || got != payload {
		r.t.Fatalf("got %#x %.200q", op, got)
	}
}

// closed reads up to the close frame and returns its code.
func (r *raw) closed() int {
	r.t.Helper()
	for {
		op, payload := r.next()
		if op == final|opClose {
			return int(binary.BigEndian.Uint16([]byte(payload)))
		}
	}
}

// ended reports whether the server ends the connection within a while, without reading it.
func (r *raw) ended(within time.Duration) bool {
	_ = r.conn.SetReadDeadline(time.Now().Add(within))
	_, err := io.Copy(io.Discard, r.in)
	var timeout net.Error
	return err == nil || !errors.As(err, &timeout) || !timeout.Timeout()
}
