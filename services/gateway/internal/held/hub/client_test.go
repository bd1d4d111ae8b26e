package hub_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// web returns a web client and a function that fails unless its next frames are these.
func web(t *testing.T) (w *hub.Client, expect func(frames ...string)) {
	t.Helper()
	accepted, ended := make(chan *conn.Conn, 1), make(chan conn.Reason, 1)
	cfg := &conn.Config{MaxFrame: 1 << 20, MaxQueued: 1 << 20, WriteTimeout: 10 * time.Second, Budget: frame.NewBudget(1 << 20)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, err := conn.Accept(w, r, "", cfg); err == nil {
			c.Serve(context.WithoutCancel(r.Context()), func(b *frame.Buffer) bool { b.Release(); return false }, func(r conn.Reason) { ended <- r })
			accepted <- c
		}
	}))
	t.Cleanup(server.Close)
	ws, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	w = &hub.Client{User: "ana", Name: "w", Conn: <-accepted}
	t.Cleanup(func() {
		_ = ws.CloseNow()
		<-ended
	})
	return w, func(frames ...string) {
		t.Helper()
		for _, want := range frames {
			if _, got, err := ws.Read(t.Context()); err != nil || string(got) != want {
				t.Fatalf("got %s, %v, want %s", got, err, want)
			}
		}
	}
}

func TestHeldFramesComeInOrderAfterTheLastRelease(t *testing.T) {
	t.Parallel()
	w, expect := web(t)
	w.Send([]byte("before"))
	one, two := w.Hold(), w.Hold()
	w.Send([]byte("held 1"))
	one()
	one()
	w.Send([]byte("held 2"))
	_ = w.Conn.Send([]byte("first"), nil)
	two()
	w.Send([]byte("after"))
	expect("before", "first", "held 1", "held 2", "after")
}

func TestAHoldThatIsNeverReleasedKeepsFewFramesBack(t *testing.T) {
	t.Parallel()
	w, expect := web(t)
	defer w.Hold()()
	for i := range 600 {
		w.Send([]byte(strconv.Itoa(i)))
	}
	for i := range 512 {
		expect(strconv.Itoa(i))
	}
}
