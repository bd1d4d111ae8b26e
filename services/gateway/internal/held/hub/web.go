package hub

import (
	"sync"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
)

// maxHeld is how many frames a web client keeps back; a client that starts workflows without a pause gets the rest as it
// comes.
const maxHeld = 256

// Web is a web client that this pod holds.
type Web struct {
	// Static after construction.
	User ids.UserID
	// Name tells the web clients of the whole cluster apart.
	Name string
	Conn *conn.Conn

	// Ping is owned by the pulse.
	Ping Ping

	mu    sync.Mutex
	holds int
	held  [][]byte // in the order of Send
}

// Send writes a frame that came from anywhere in the cluster. A client that is closing is no longer there to hear it.
func (w *Web) Send(frame []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.holds == 0 {
		_ = w.Conn.Send(frame, nil)
		return
	}
	if w.held = append(w.held, frame); len(w.held) == maxHeld {
		w.flush()
	}
}

// Hold keeps the frames of [Web.Send] back until release is called: what the client has to hear first may come from
// another pod by another way. To release twice is harmless.
func (w *Web) Hold() (release func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holds++
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.holds--; w.holds == 0 {
			w.flush()
		}
	})
}

func (w *Web) flush() {
	for _, frame := range w.held {
		_ = w.Conn.Send(frame, nil)
	}
	w.held = nil
}
