package node

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// patience is how long a test waits for what must happen at once.
const patience = 10 * time.Second

// gateway is a real WebSocket server whose side of the protocol the test plays.
type gateway struct {
	t      testing.TB
	server *httptest.Server
	peers  chan *peer
}

// peer is the gateway's end of one connection.
type peer struct {
	t       testing.TB
	ws      *websocket.Conn
	request *http.Request
	done    chan struct{}
}

func newGateway(t testing.TB) *gateway {
	g := &gateway{t: t, peers: make(chan *peer, 16)}
	g.server = httptest.NewServer(http.HandlerFunc(g.serve))
	t.Cleanup(g.server.Close)
	return g
}

func (g *gateway) serve(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		g.t.Error(err)
		return
	}
	ws.SetReadLimit(MaxFrameBytes)
	p := &peer{t: g.t, ws: ws, request: r, done: make(chan struct{})}
	g.peers <- p
	<-p.done
	_ = ws.CloseNow()
}

// accept returns the next connection.
func (g *gateway) accept() *peer {
	g.t.Helper()
	select {
	case p := <-g.peers:
		g.t.Cleanup(p.hangUp)
		return p
	case <-time.After(patience):
		g.t.Fatal("the node did not connect")
		return nil
	}
}

// register accepts a connection and answers its register.
func (g *gateway) register() *peer {
	g.t.Helper()
	p := g.accept()
	if frame := p.read(); !strings.HasPrefix(frame, `{"type":"register",`) {
		g.t.Fatalf("the first frame is %s", frame)
	}
	p.write(`{"type":"registered","node_id":"desk-1","success":true}`)
	return p
}

// hangUp drops the connection without a close frame, as a lost network does.
func (p *peer) hangUp() {
	select {
	case <-p.done:
	default:
		close(p.done)
	}
}

func (p *peer) read() string {
	p.t.Helper()
	data, err := p.tryRead()
	if err != nil {
		p.t.Fatalf("reading from the node: %v", err)
	}
	return data
}

func (p *peer) tryRead() (string, error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	_, data, err := p.ws.Read(ctx)
	return string(data), err
}

func (p *peer) expect(want string) {
	p.t.Helper()
	if got := p.read(); got != want {
		p.t.Fatalf("the node sent\n%s\nwant\n%s", got, want)
	}
}

// quiet proves that the node has sent nothing: the next frame is the pong.
func (p *peer) quiet() {
	p.t.Helper()
	p.write(`{"type":"ping"}`)
	p.expect(`{"type":"pong"}`)
}

func (p *peer) write(frame string) {
	p.t.Helper()
	p.writeKind(websocket.MessageText, frame)
}

func (p *peer) writeKind(kind websocket.MessageType, frame string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	if err := p.ws.Write(ctx, kind, []byte(frame)); err != nil {
		p.t.Fatalf("writing to the node: %v", err)
	}
}

func (p *peer) close(code int, reason string) {
	_ = p.ws.Close(websocket.StatusCode(code), reason)
	p.hangUp()
}

// running is a node whose Run is under way.
type running struct {
	*Node
	t    testing.TB
	stop context.CancelFunc
	err  chan error
}

// quick is the protocol's timing with pauses that do not slow tests down.
func quick() timing {
	t := defaultTiming()
	t.retryBase, t.retryMax = time.Millisecond, 5*time.Millisecond
	return t
}

func options(g *gateway) Options {
	return Options{
		Server: g.server.URL, UserID: "ana", NodeID: "desk-1", Name: "Ana's desk", OS: "Linux", OSVersion: "6.1",
		AppVersion: "1.0.0", Capabilities: []string{"file_system"},
	}
}

// start runs a node with the given tools; the test's end stops it.
func start(t testing.TB, o Options, timing timing, tools map[string]Handler) *running {
	t.Helper()
	n, err := newNode(o, timing)
	if err != nil {
		t.Fatal(err)
	}
	for name, h := range tools {
		n.Handle(name, h)
	}
	return launch(t, n)
}

// launch runs a node; the test's end stops it.
func launch(t testing.TB, n *Node) *running {
	ctx, stop := context.WithCancel(t.Context())
	r := &running{Node: n, t: t, stop: stop, err: make(chan error, 1)}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		r.err <- n.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-finished
	})
	return r
}

// wait returns what Run returned.
func (r *running) wait() error {
	r.t.Helper()
	select {
	case err := <-r.err:
		return err
	case <-time.After(patience):
		r.t.Fatal("Run did not return")
		return errors.New("unreachable")
	}
}

// receive fails the test where nothing comes.
func receive[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

func callText(id, tool string) string {
	return `{"jsonrpc":"2.0","id":"` + id + `","method":"tools/call","params":{"name":"` + tool + `","arguments":{}}}`
}

func answerText(id, text string) string {
	return `{"jsonrpc":"2.0","id":"` + id + `","result":{"content":[{"type":"text","text":"` + text + `"}],"isError":false}}`
}
