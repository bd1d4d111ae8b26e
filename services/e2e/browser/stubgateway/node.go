package stubgateway

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// Register is the frame of docs/protocols/zeus-nodes.md#register.
type Register struct {
	NodeID             string   `json:"node_id"`
	NodeName           string   `json:"node_name"`
	NodeType           string   `json:"node_type"`
	OS                 string   `json:"os"`
	OSVersion          string   `json:"os_version"`
	AppVersion         string   `json:"app_version"`
	Capabilities       []string `json:"capabilities"`
	AvailableTools     []string `json:"available_tools"`
	MaxConcurrentTasks int      `json:"max_concurrent_tasks"`
}

// Node is one registered connection.
type Node struct {
	// Static once Next has returned it.
	Path     string // /ws/extension or /ws/desktop
	ClientID string // as in the query
	NodeID   string // as in the query
	Token    string // of bearer.<token>, last among the offered subprotocols
	Origin   string
	Register Register
	conn     *websocket.Conn
	gone     chan struct{} // closed when the socket has ended

	mu      sync.Mutex
	pending map[string]chan answer // capacity 1 each; nil once the socket has ended
	counts  map[string]int         // frames by type
}

func newNode(conn *websocket.Conn, r *http.Request, offered []string) *Node {
	token, ok := strings.CutPrefix(offered[len(offered)-1], "bearer.")
	if !ok {
		token = ""
	}
	query := r.URL.Query()
	return &Node{
		Path: r.URL.Path, ClientID: query.Get("client_id"), NodeID: query.Get("node_id"),
		Token: token, Origin: r.Header.Get("Origin"),
		conn: conn, gone: make(chan struct{}), pending: make(map[string]chan answer), counts: make(map[string]int),
	}
}

// serve reads until the socket ends; the node is handed over once it has registered.
func (n *Node) serve(ctx context.Context, registered chan<- *Node) {
	var pinger sync.WaitGroup
	defer pinger.Wait()
	defer n.release()
	pinger.Go(func() { n.ping(ctx) })
	for {
		_, text, err := n.conn.Read(ctx)
		if err != nil {
			return
		}
		if n.heard(ctx, text) {
			select {
			case registered <- n:
			case <-ctx.Done():
			}
		}
	}
}

// heard treats one frame; the first register frame is true.
func (n *Node) heard(ctx context.Context, text []byte) (registers bool) {
	var f struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		n.count("malformed")
		return false
	}
	if f.Type == "" {
		n.resolve(text)
		return false
	}
	first := n.count(f.Type) == 1
	switch f.Type {
	case "register":
		if first {
			registers = json.Unmarshal(text, &n.Register) == nil
		}
		_ = n.Send(ctx, map[string]any{"type": "registered", "node_id": n.Register.NodeID, "success": true})
	case "heartbeat":
		_ = n.Send(ctx, map[string]any{"type": "heartbeat_ack"})
	case "ping":
		_ = n.Send(ctx, map[string]any{"type": "pong"})
	}
	return registers
}

func (n *Node) ping(ctx context.Context) {
	tick := time.NewTicker(PingInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = n.Send(ctx, map[string]any{"type": "ping"}) // an error ends the read loop, too
		case <-n.gone:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (n *Node) count(kind string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.counts[kind]++
	return n.counts[kind]
}

// Heard says how many frames of a type the node has sent; "unasked" are answers to no open call, "malformed" not JSON.
func (n *Node) Heard(kind string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.counts[kind]
}

// Gone is closed when the socket has ended.
func (n *Node) Gone() <-chan struct{} { return n.gone }

// Send writes one frame.
func (n *Node) Send(ctx context.Context, frame any) error {
	text, err := json.Marshal(frame)
	if err != nil {
		return err
	}
	return n.conn.Write(ctx, websocket.MessageText, text)
}

// Close ends the connection with a close frame.
func (n *Node) Close(code websocket.StatusCode, reason string) {
	_ = n.conn.Close(code, reason)
}

// Drop ends the connection without a word, as a dying machine does.
func (n *Node) Drop() {
	_ = n.conn.CloseNow()
}
