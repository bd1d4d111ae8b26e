package nodes

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
)

// The opening handshake of RFC 6455, section 1.3, with the nonce that the RFC uses as its example.
const (
	nonce     = "dGhlIHNhbXBsZSBub25jZQ=="
	accept    = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
	handshake = "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + nonce + "\r\n\r\n"
)

// Opcodes of RFC 6455, section 5.2, with the bit that ends a message.
const (
	final     = 0x80
	opText    = final | 0x1
	opClose   = final | 0x8
	opPing    = final | 0x9
	opPong    = final | 0xa
	masked    = 0x80
	len16     = 126
	len64     = 127
	maxHeader = 14 // of a masked frame
)

// readerSize is enough for any call; larger frames grow the payload's own buffer.
const readerSize = 2 << 10

// maxFrame bounds what a pod can make this client allocate.
const maxFrame = 1 << 20

// wire is the client's side of one WebSocket. One goroutine at a time may read; writes of whole frames may come from any.
type wire struct {
	net.Conn
	in      *bufio.Reader
	payload []byte
}

// dial opens a socket.
func dial(ctx context.Context, addr, path string) (*wire, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: conn, in: bufio.NewReaderSize(conn, readerSize)}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	err = w.shakeHands(path, addr)
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close() // the handshake's error says more
		return nil, fmt.Errorf("handshake with %s: %w", addr, err)
	}
	return w, nil
}

func (w *wire) shakeHands(path, host string) error {
	if _, err := fmt.Fprintf(w, handshake, path, host); err != nil {
		return err
	}
	resp, err := http.ReadResponse(w.in, nil)
	if err != nil {
		return err
	}
	_ = resp.Body.Close() // an upgrade has none
	if resp.StatusCode != http.StatusSwitchingProtocols || resp.Header.Get("Sec-WebSocket-Accept") != accept {
		return fmt.Errorf("answered %s", resp.Status)
	}
	return nil
}

// closedError is the code of a close frame; 0 where it has none.
type closedError int

func (e closedError) Error() string { return fmt.Sprintf("closed with code %d", int(e)) }

var errFrame = errors.New("a frame that this client does not speak: fragmented, binary, masked or larger than a call is")

// next returns the payload of the next text frame; it is valid until the next call. Pings are answered.
func (w *wire) next() ([]byte, error) {
	for {
		op, err := w.read()
		switch {
		case err != nil:
			return nil, err
		case op == opText:
			return w.payload, nil
		case op == opPing:
			if err := w.write(opPong, w.payload); err != nil {
				return nil, err
			}
		case op == opPong:
		case op == opClose && len(w.payload) >= 2:
			return nil, closedError(binary.BigEndian.Uint16(w.payload))
		case op == opClose:
			return nil, closedError(0)
		default:
			return nil, errFrame
		}
	}
}

// read reads one frame into w.payload.
func (w *wire) read() (op byte, err error) {
	var h [8]byte
	if _, err = io.ReadFull(w.in, h[:2]); err != nil {
		return 0, err
	}
	if h[1]&masked != 0 {
		return 0, errFrame
	}
	op = h[0]
	n := uint64(h[1])
	switch n {
	case len16:
		_, err = io.ReadFull(w.in, h[:2])
		n = uint64(binary.BigEndian.Uint16(h[:2]))
	case len64:
		_, err = io.ReadFull(w.in, h[:8])
		n = binary.BigEndian.Uint64(h[:8])
	}
	if err != nil {
		return 0, err
	}
	if n > maxFrame {
		return 0, errFrame
	}
	if uint64(cap(w.payload)) < n {
		w.payload = make([]byte, n)
	}
	w.payload = w.payload[:n]
	_, err = io.ReadFull(w.in, w.payload)
	return op, err
}

// idle reports whether nothing is left to read without waiting.
func (w *wire) idle() bool { return w.in.Buffered() == 0 }

// write writes one frame.
func (w *wire) write(op byte, payload []byte) error {
	_, err := w.Write(append(appendHeader(make([]byte, 0, maxHeader+len(payload)), op, len(payload)), payload...))
	return err
}

// appendHeader appends the header of a frame of n bytes, with a masking key of zero.
func appendHeader(b []byte, op byte, n int) []byte {
	b = append(b, op)
	switch {
	case n < len16:
		b = append(b, masked|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, masked|len16), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, masked|len64), uint64(n))
	}
	return append(b, 0, 0, 0, 0)
}
