package relay

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"

	"github.com/coder/websocket"
	"github.com/nats-io/nats.go"
)

const (
	// maxFrame bounds an answer, in bytes.
	maxFrame = 10 << 20
	// maxOpen is how many calls one node may have open.
	maxOpen = 1 << 10
)

// Holder is the pod that holds the nodes' sockets, at /node?id=…
type Holder struct {
	bus     *nats.Conn
	buffers sync.Pool // of *[]byte
}

// NewHolder returns a Holder on a bus.
func NewHolder(bus *nats.Conn) *Holder {
	return &Holder{bus: bus, buffers: sync.Pool{New: func() any { return new(make([]byte, 4<<10)) }}}
}

// ServeHTTP serves one node until its connection ends.
func (h *Holder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		slog.Warn("upgrade", "error", err)
		return
	}
	defer func() { _ = socket.CloseNow() }()
	socket.SetReadLimit(maxFrame)
	if err := h.serve(socket, r.URL.Query().Get("id")); websocket.CloseStatus(err) == -1 && !errors.Is(err, io.EOF) {
		slog.Warn("node", "error", err)
	}
}

var ready = []byte(`{"type":"registered","success":true}`)

func (h *Holder) serve(socket *websocket.Conn, id string) error {
	// The node answers in order, so the oldest request is the one that is answered.
	open := make(chan string, maxOpen)
	sub, err := h.bus.Subscribe(subject(id), func(m *nats.Msg) {
		open <- m.Reply
		if err := socket.Write(context.Background(), websocket.MessageText, m.Data); err != nil {
			_ = socket.CloseNow() // the reader says why
		}
	})
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only once the bus is closed
	if err := h.bus.Flush(); err != nil {
		return err
	}
	if err := socket.Write(context.Background(), websocket.MessageText, ready); err != nil {
		return err
	}
	for {
		if err := h.answer(socket, open); err != nil {
			return err
		}
	}
}

// answer relays one answer.
func (h *Holder) answer(socket *websocket.Conn, open <-chan string) error {
	_, r, err := socket.Reader(context.Background())
	if err != nil {
		return err
	}
	buf := h.buffers.Get().(*[]byte)
	defer h.buffers.Put(buf)
	frame, err := readAll(r, buf)
	if err != nil {
		return err
	}
	return h.bus.Publish(<-open, frame) // which copies the frame
}

// readAll reads into *buf, which it makes larger where it must.
func readAll(r io.Reader, buf *[]byte) ([]byte, error) {
	n := 0
	for {
		k, err := r.Read((*buf)[n:])
		n += k
		switch {
		case errors.Is(err, io.EOF):
			return (*buf)[:n], nil
		case err != nil:
			return nil, err
		case n == len(*buf):
			*buf = append(*buf, make([]byte, n)...)
		}
	}
}
