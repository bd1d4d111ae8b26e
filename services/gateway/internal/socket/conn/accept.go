package conn

import (
	"bufio"
	"bytes"
	"net"
	"net/http"

	"github.com/coder/websocket"
)

// Sizes of the WebSocket library's own buffers, which only ever hold a frame's header: the wire below reads ahead, and gathers.
const (
	readerSize = 32
	writerSize = 16
)

// Accept takes over the socket of an upgrade request. subprotocol is echoed where it is not empty. On an error the
// response has been written.
//
// The origin must have been checked before.
func Accept(w http.ResponseWriter, r *http.Request, subprotocol string, cfg *Config) (*Conn, error) {
	h := &hijacker{ResponseWriter: w, cfg: cfg}
	opts := &websocket.AcceptOptions{
		InsecureSkipVerify: true, // origins are the edge's business, it knows extensions
		CompressionMode:    websocket.CompressionDisabled,
	}
	if subprotocol != "" {
		opts.Subprotocols = []string{subprotocol}
	}
	ws, err := websocket.Accept(h, r, opts)
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(cfg.MaxFrame)
	c := &Conn{ws: ws, wire: h.wire, cfg: cfg}
	c.Seen()
	return c, nil
}

// hijacker swaps net/http's 4 KiB buffers for small ones when the socket is taken over.
type hijacker struct {
	http.ResponseWriter
	cfg  *Config
	wire *wire
}

func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	nc, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	var ahead []byte
	if below, ok := nc.(interface{ Rest() (net.Conn, []byte) }); ok {
		nc, ahead = below.Rest()
	}
	h.wire = newWire(nc, h.cfg.WriteTimeout)
	if n := rw.Reader.Buffered(); n > 0 { // a client may send its first frames with the handshake
		early, _ := rw.Reader.Peek(n)
		h.wire.early = bytes.Clone(early)
	}
	h.wire.early = append(h.wire.early, ahead...)
	return h.wire, bufio.NewReadWriter(bufio.NewReaderSize(h.wire, readerSize), bufio.NewWriterSize(h.wire, writerSize)), nil
}
