package stubgateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// PingInterval is how often the gateway sends {"type":"ping"}: docs/protocols/zeus-nodes.md#ping.
const PingInterval = 20 * time.Second

// Gateway accepts nodes at /ws/extension and /ws/desktop.
type Gateway struct {
	// Static after construction.
	server *httptest.Server
	ctx    context.Context // ends with the gateway
	nodes  chan *Node      // those that nobody has taken yet
	serves sync.WaitGroup
}

// Start runs a gateway until the test ends.
func Start(t testing.TB) *Gateway {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	g := &Gateway{ctx: ctx, nodes: make(chan *Node, 64)}
	g.server = httptest.NewServer(http.HandlerFunc(g.accept))
	t.Cleanup(func() {
		cancel()
		g.server.Close() // no more accepts, so that the wait below is for all there will be
		g.serves.Wait()
	})
	return g
}

// URL is the gateway's WebSocket address, without a path.
func (g *Gateway) URL() string {
	return "ws" + strings.TrimPrefix(g.server.URL, "http")
}

// Next waits for the next node to connect and to register.
func (g *Gateway) Next(ctx context.Context) (*Node, error) {
	select {
	case n := <-g.nodes:
		return n, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Waiting says how many nodes have registered that Next has not returned yet.
func (g *Gateway) Waiting() int {
	return len(g.nodes)
}

func (g *Gateway) accept(w http.ResponseWriter, r *http.Request) {
	g.serves.Add(1)
	defer g.serves.Done()
	if !slices.Contains([]string{"/ws/extension", "/ws/desktop"}, r.URL.Path) {
		http.NotFound(w, r)
		return
	}
	offered := strings.Split(r.Header.Get("Sec-WebSocket-Protocol"), ", ")
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // any Origin: the extension's, a page's, none
		Subprotocols:       offered[:1],
	})
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }() // an error means that it has ended already
	conn.SetReadLimit(10 << 20)
	n := newNode(conn, r, offered)
	n.serve(g.ctx, g.nodes)
}
