package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/hecaton-dev/hecaton/pkg/load"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pod is a WebSocket server with another implementation of RFC 6455 than the one under test.
func pod(t *testing.T, serve func(context.Context, *websocket.Conn, *http.Request)) (addr string) {
	t.Helper()
	var open sync.WaitGroup
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		open.Add(1)
		defer open.Done()
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
		if err != nil {
			t.Error(err)
			return
		}
		c.SetReadLimit(1 << 20)
		serve(t.Context(), c, r)
		_ = c.CloseNow()
	}))
	t.Cleanup(func() {
		open.Wait()
		s.Close()
	})
	return strings.TrimPrefix(s.URL, "http://")
}

func TestWireSpeaksWebSocket(t *testing.T) {
	t.Parallel()
	sizes := []int{0, 1, 125, 126, 127, 65535, 65536, 200 << 10}
	addr := pod(t, func(ctx context.Context, c *websocket.Conn, _ *http.Request) {
		for range sizes {
			_, data, err := c.Read(ctx)
			if err == nil {
				err = c.Write(ctx, websocket.MessageText, data)
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
		ctx = c.CloseRead(ctx)
		if err := c.Ping(ctx); err != nil {
			t.Error(err)
		}
		_ = c.Close(4009, "enough")
	})
	w, err := dial(t.Context(), addr, "/")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, size := range sizes {
		sent := strings.Repeat("x", size)
		if err := w.write(opText, []byte(sent)); err != nil {
			t.Fatal(err)
		}
		if got, err := w.next(); err != nil || string(got) != sent {
			t.Fatalf("%d bytes: got %d, %v", size, len(got), err)
		}
	}
	var closed closedError
	if _, err := w.next(); !errors.As(err, &closed) || closed != 4009 {
		t.Error(err)
	}
}

func TestWireRefusesWhatItDoesNotSpeak(t *testing.T) {
	t.Parallel()
	addr := pod(t, func(ctx context.Context, c *websocket.Conn, _ *http.Request) {
		_ = c.Write(ctx, websocket.MessageBinary, []byte("x"))
		_, _, _ = c.Read(ctx)
	})
	w, err := dial(t.Context(), addr, "/")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.next(); !errors.Is(err, errFrame) {
		t.Error(err)
	}
	_ = w.Close()

	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	if _, err := dial(t.Context(), strings.TrimPrefix(s.URL, "http://"), "/"); err == nil || !strings.Contains(err.Error(), "404") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dial(ctx, addr, "/"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

const call = `{"jsonrpc":"2.0","id":"%s","method":"tools/call","params":{"name":"screenshot","arguments":{"full_page":true}}}`

// zeus accepts a registration (docs/protocols/zeus-nodes.md#register), then makes the calls with the given ids, all at once.
func zeus(t *testing.T, calls ...string) func(context.Context, *websocket.Conn, *http.Request) {
	return func(ctx context.Context, c *websocket.Conn, r *http.Request) {
		_, data, err := c.Read(ctx)
		var m struct {
			Type  string `json:"type"`
			ID    string `json:"node_id"`
			Tasks int    `json:"max_concurrent_tasks"`
		}
		if err != nil || json.Unmarshal(data, &m) != nil || m.Type != "register" || m.ID != r.URL.Query().Get("node_id") || m.Tasks != Places {
			t.Errorf("%v: %s", err, data)
			return
		}
		_ = c.Write(ctx, websocket.MessageText, []byte(`{"type":"ping"}`))
		for i, id := range calls {
			if i == 1 { // the first call comes before the node knows that it is registered
				_ = c.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"type":"registered","node_id":%q,"success":true}`, m.ID))
			}
			_ = c.Write(ctx, websocket.MessageText, fmt.Appendf(nil, call, id))
		}
		if len(calls) == 0 {
			_ = c.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"type":"registered","node_id":%q,"success":true}`, m.ID))
		}
		_ = c.Write(ctx, websocket.MessageText, []byte(`{"type":"ping"}`))
		answered := make(map[string]bool)
		for pongs := 0; pongs < 1 || len(answered) < len(calls); {
			_, data, err := c.Read(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			if string(data) == string(load.Pong) {
				pongs++
				continue
			}
			var a struct {
				ID     string          `json:"id"`
				Result json.RawMessage `json:"result"`
			}
			if err := json.Unmarshal(data, &a); err != nil || len(a.Result) != resultSize || len(data) != AnswerSize(resultSize, a.ID) {
				t.Errorf("answer of %d bytes with a result of %d: %v", len(data), len(a.Result), err)
			}
			answered[a.ID] = true
		}
		for _, id := range calls {
			if !answered[id] {
				t.Errorf("%s was not answered", id)
			}
		}
	}
}

const resultSize = 9000

func TestNodesAnswerCalls(t *testing.T) {
	t.Parallel()
	var calls []string
	for i := range 50 {
		calls = append(calls, strings.Repeat("i", 1+i))
	}
	moved := make(chan struct{})
	again := pod(t, func(ctx context.Context, c *websocket.Conn, r *http.Request) {
		zeus(t)(ctx, c, r)
		close(moved)
		<-c.CloseRead(ctx).Done()
	})
	first := pod(t, func(ctx context.Context, c *websocket.Conn, r *http.Request) {
		zeus(t, calls...)(ctx, c, r)
		_ = c.Close(1012, "bye")
	})
	f := NewFleet()
	defer f.Close()
	if err := f.Answer(resultSize, nil); err != nil {
		t.Fatal(err)
	}
	if err := f.Follow([]string{again}, nil); err != nil {
		t.Fatal(err)
	}
	var took time.Duration
	if err := f.Connect(Plan{Addr: first, Dialect: Zeus, Count: 1, PerUser: 1}, &took); err != nil || took <= 0 {
		t.Fatal(took, err)
	}
	<-moved
	if err := f.Answer(10, nil); err == nil {
		t.Error("no error for a result that is too small for its frame")
	}
}

func TestFleetComesBack(t *testing.T) {
	t.Parallel()
	const count = 30
	end := make(chan struct{})
	stay := func(ctx context.Context, c *websocket.Conn, _ *http.Request) {
		_ = c.Write(ctx, websocket.MessageText, []byte(`{"type":"registered","success":true}`))
		select {
		case <-end:
		case <-c.CloseRead(ctx).Done():
		}
	}
	var mu sync.Mutex
	came := make(map[string]bool)
	first := pod(t, stay)
	second := pod(t, func(ctx context.Context, c *websocket.Conn, r *http.Request) {
		mu.Lock()
		came[r.URL.Query().Get("id")] = true
		mu.Unlock()
		_ = c.Write(ctx, websocket.MessageText, []byte(`{"type":"registered","success":true}`))
		<-c.CloseRead(ctx).Done()
	})
	f := NewFleet()
	defer f.Close()
	var took time.Duration
	if err := f.Connect(Plan{Addr: first, Dialect: Bare, Count: count, PerUser: 7}, &took); err != nil {
		t.Fatal(err)
	}
	_ = f.Follow([]string{second}, nil)
	close(end)
	var r Return
	if err := f.Returned(struct{}{}, &r); err != nil || r.Took <= 0 {
		t.Fatal(r, err)
	}
	if user, node := Name(count-1, 7); len(came) != count || !came[user+"-"+node] {
		t.Errorf("%d nodes came back: %v", len(came), came)
	}
}

func TestFleetTellsWhatWentWrong(t *testing.T) {
	t.Parallel()
	full := pod(t, func(_ context.Context, c *websocket.Conn, _ *http.Request) { _ = c.Close(4009, "full") })
	refusing := pod(t, func(ctx context.Context, c *websocket.Conn, _ *http.Request) {
		_ = c.Write(ctx, websocket.MessageText, []byte(`{"type":"registered","success":false}`))
		_, _, _ = c.Read(ctx)
	})
	for addr, want := range map[string]string{full: "4009", refusing: "refused"} {
		f := NewFleet()
		err := f.Connect(Plan{Addr: addr, Dialect: Bare, Count: 3, PerUser: 1}, new(time.Duration))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
		f.Close()
	}
}

// A node that is to stay whatever happens tries again where it is refused, and after its connection's end, which is counted.
func TestFleetThatTriesAgain(t *testing.T) {
	t.Parallel()
	var came atomic.Int32
	welcome := func(ctx context.Context, c *websocket.Conn) {
		_ = c.Write(ctx, websocket.MessageText, []byte(`{"type":"registered","success":true}`))
	}
	back := make(chan struct{})
	addr := pod(t, func(ctx context.Context, c *websocket.Conn, _ *http.Request) {
		switch came.Add(1) {
		case 1:
			_ = c.Close(1013, "later")
		case 2:
			welcome(ctx, c)
		default:
			welcome(ctx, c)
			close(back)
			<-c.CloseRead(ctx).Done()
		}
	})
	f := NewFleet()
	defer f.Close()
	if err := f.Connect(Plan{Addr: addr, Dialect: Bare, Count: 1, PerUser: 1, Again: true}, new(time.Duration)); err != nil {
		t.Fatal(err)
	}
	<-back
	var dropped int
	if err := f.Dropped(struct{}{}, &dropped); err != nil || dropped != 1 {
		t.Errorf("%d connections were dropped, %v", dropped, err)
	}
}

// registers takes one registration and says no more.
func registers(ctx context.Context, t *testing.T, c *websocket.Conn) {
	_, _, err := c.Read(ctx)
	if err == nil {
		err = c.Write(ctx, websocket.MessageText, []byte(`{"type":"registered","success":true}`))
	}
	if err != nil {
		t.Error(err)
	}
}

// Nodes that are connected send heartbeats, each at its own moment of the interval, and none twice in one.
func TestFleetBeats(t *testing.T) {
	t.Parallel()
	const count, rounds = 5, 3
	beats := make(chan string, count*rounds*10)
	addr := pod(t, func(ctx context.Context, c *websocket.Conn, r *http.Request) {
		registers(ctx, t, c)
		for {
			_, data, err := c.Read(ctx)
			if err != nil {
				return
			}
			if string(data) != string(load.Heartbeat) {
				t.Errorf("%s", data)
			}
			beats <- r.URL.Query().Get("client_id")
		}
	})
	f := NewFleet()
	defer f.Close()
	if err := f.Connect(Plan{Addr: addr, Dialect: Zeus, Count: count, PerUser: 1, First: 7}, new(time.Duration)); err != nil {
		t.Fatal(err)
	}
	if err := f.Beat(50*time.Millisecond, nil); err != nil {
		t.Fatal(err)
	}
	heard := make(map[string]int)
	for range count * rounds {
		heard[<-beats]++
	}
	user, _ := Name(7+count-1, 1)
	if len(heard) != count || heard["user_"+user] == 0 {
		t.Errorf("%v", heard)
	}
	for name, n := range heard {
		// The first one may have come while the node was about to listen, and two rounds may overlap where they are counted.
		if n < rounds-1 || n > rounds+1 {
			t.Errorf("%s was heard %d times", name, n)
		}
	}
}

func TestVisitor(t *testing.T) {
	t.Parallel()
	said, gone := make(chan string, 1), make(chan struct{})
	addr := pod(t, func(ctx context.Context, c *websocket.Conn, _ *http.Request) {
		registers(ctx, t, c)
		_, data, err := c.Read(ctx)
		if err != nil {
			t.Error(err)
		}
		said <- string(data)
		if err := c.Write(ctx, websocket.MessageText, []byte(`{"type":"ping"}`)); err != nil {
			t.Error(err)
		}
		if _, data, err = c.Read(ctx); err != nil || string(data) != string(load.Pong) {
			t.Errorf("%s, %v", data, err)
		}
		_ = c.Write(ctx, websocket.MessageText, []byte(`{"type":"heartbeat_ack"}`))
		close(gone)
	})
	v, err := Visit(t.Context(), addr, "ann", "laptop")
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Say("busy"); err != nil {
		t.Fatal(err)
	}
	if got, want := <-said, `{"type":"heartbeat","status":"busy","current_tasks":0}`; got != want {
		t.Error(got)
	}
	<-gone
	v.Leave()
}
