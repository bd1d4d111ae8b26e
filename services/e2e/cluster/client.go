package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// patience is how long a test waits for a frame that should come at once, on a machine that has a lot to do.
const patience = time.Minute

// Client is a WebSocket client that shows every frame as it arrived. Pings of the server are kept separately.
type Client struct {
	t      testing.TB
	ws     *websocket.Conn
	frames chan string
	pings  chan string
	ended  chan struct{}
	mu     sync.Mutex
	err    error
}

// Dial opens a socket: path is such as "/ws/extension", query its parameters.
func (g *Gateway) Dial(t testing.TB, path string, query url.Values) *Client {
	t.Helper()
	c, err := g.TryDial(t, path, query, nil)
	if err != nil {
		t.Fatalf("dial %s: %v", path, err)
	}
	return c
}

// TryDial is Dial for sockets that may be refused.
func (g *Gateway) TryDial(t testing.TB, path string, query url.Values, opts *websocket.DialOptions) (*Client, error) {
	t.Helper()
	return g.open(t, path+"?"+query.Encode(), opts)
}

// TryOpen is Open for sockets that may be refused.
func (g *Gateway) TryOpen(t testing.TB, target string) (*Client, error) {
	t.Helper()
	return g.open(t, target, nil)
}

// Open opens a socket whose path and query are sent as they stand.
func (g *Gateway) Open(t testing.TB, target string) *Client {
	t.Helper()
	c, err := g.open(t, target, nil)
	if err != nil {
		t.Fatalf("dial %s: %v", target, err)
	}
	return c
}

func (g *Gateway) open(t testing.TB, target string, opts *websocket.DialOptions) (*Client, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ws, resp, err := websocket.Dial(ctx, "ws://"+g.HTTP+target, opts)
	if err != nil {
		if resp != nil {
			err = errors.Join(err, errors.New(resp.Status))
		}
		return nil, err
	}
	ws.SetReadLimit(-1)
	c := &Client{t: t, ws: ws, frames: make(chan string, 10000), pings: make(chan string, 100), ended: make(chan struct{})}
	go c.read()
	t.Cleanup(func() {
		_ = ws.CloseNow()
		<-c.ended
	})
	return c, nil
}

// Extension opens an extension's socket.
func (g *Gateway) Extension(t testing.TB, user, node string) *Client {
	t.Helper()
	return g.Dial(t, "/ws/extension", url.Values{"client_id": {"user_" + user}, "node_id": {node}})
}

// Desktop opens a desktop's socket.
func (g *Gateway) Desktop(t testing.TB, user, node string) *Client {
	t.Helper()
	return g.Dial(t, "/ws/desktop", url.Values{"client_id": {"desktop_" + user}, "node_id": {node}})
}

// Web opens a web client's socket, and waits until it is joined.
func (g *Gateway) Web(t testing.TB, user string) *Client {
	t.Helper()
	c := g.Dial(t, "/ws/web", url.Values{"user_id": {user}})
	c.Send(`{"type":"ping"}`)
	c.Expect(`{"type":"pong"}`)
	return c
}

func (c *Client) read() {
	defer close(c.ended)
	for {
		_, b, err := c.ws.Read(context.Background())
		if err != nil {
			c.mu.Lock()
			c.err = err
			c.mu.Unlock()
			return
		}
		if string(b) == `{"type":"ping"}` {
			select {
			case c.pings <- string(b):
			default:
			}
			continue
		}
		c.frames <- string(b)
	}
}

// Send writes a text frame.
func (c *Client) Send(frame string) {
	c.t.Helper()
	if err := c.TrySend(websocket.MessageText, []byte(frame)); err != nil {
		c.t.Errorf("send %.80s: %v", frame, err)
	}
}

// TrySend writes a frame to a socket that may have ended.
func (c *Client) TrySend(kind websocket.MessageType, frame []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return c.ws.Write(ctx, kind, frame)
}

// Next returns the next frame that is no server ping.
func (c *Client) Next() string {
	c.t.Helper()
	select {
	case f := <-c.frames:
		return f
	default:
	}
	select {
	case f := <-c.frames:
		return f
	case <-c.ended:
		c.t.Fatalf("the socket ended instead of a frame: %v", c.closeErr())
	case <-time.After(patience):
		c.t.Fatal("no frame came")
	}
	return ""
}

// TryNext is Next for a socket that may end instead: ok is false then.
func (c *Client) TryNext() (frame string, ok bool) {
	c.t.Helper()
	select {
	case frame = <-c.frames:
		return frame, true
	case <-c.ended:
		select {
		case frame = <-c.frames:
			return frame, true
		default:
			return "", false
		}
	case <-time.After(patience):
		c.t.Fatal("neither a frame came nor the end")
		return "", false
	}
}

// Expect fails unless the next frame is exactly this.
func (c *Client) Expect(frame string) {
	c.t.Helper()
	if got := c.Next(); got != frame {
		c.t.Fatalf("got  %.300s\nwant %.300s", got, frame)
	}
}

// Silent fails if a frame comes before the answer to a ping does.
func (c *Client) Silent() {
	c.t.Helper()
	c.Send(`{"type":"ping"}`)
	c.Expect(`{"type":"pong"}`)
}

// Ping waits for a server's ping.
func (c *Client) Ping() {
	c.t.Helper()
	select {
	case <-c.pings:
	case <-time.After(patience):
		c.t.Fatal("the server did not ping")
	}
}

func (c *Client) closeErr() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Ended waits for the end of the socket and returns its close code; -1 where it ended without one.
func (c *Client) Ended() int {
	c.t.Helper()
	select {
	case <-c.ended:
	case <-time.After(patience):
		c.t.Fatal("the socket did not end")
	}
	return int(websocket.CloseStatus(c.closeErr()))
}

// Done is closed once the socket has ended.
func (c *Client) Done() <-chan struct{} { return c.ended }

// Open reports whether the socket has not ended.
func (c *Client) Open() bool {
	select {
	case <-c.ended:
		return false
	default:
		return true
	}
}

// Cut ends the socket without a word.
func (c *Client) Cut() {
	_ = c.ws.CloseNow()
	<-c.ended
}

// Close ends the socket politely.
func (c *Client) Close() {
	_ = c.ws.Close(websocket.StatusNormalClosure, "")
	<-c.ended
}

// Register registers the node and waits for the answer.
func (c *Client) Register(fields string) {
	c.t.Helper()
	if fields != "" {
		fields = "," + fields
	}
	c.Send(`{"type":"register"` + fields + `}`)
	if got := c.Next(); !strings.Contains(got, `"success":true`) {
		c.t.Fatalf("registration answered with %s", got)
	}
}

// ToolCall is a call as a node gets it.
type ToolCall struct {
	Frame  string
	ID     string `json:"id"`
	Method string `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		SessionID string          `json:"session_id"`
		RequestID string          `json:"requestId"`
		Reason    string          `json:"reason"`
		Meta      map[string]any  `json:"_meta"`
	} `json:"params"`
}

// Call waits for the next frame, which must be JSON-RPC.
func (c *Client) Call() ToolCall {
	c.t.Helper()
	var call ToolCall
	call.Frame = c.Next()
	if err := json.Unmarshal([]byte(call.Frame), &call); err != nil || call.Method == "" {
		c.t.Fatalf("not a request: %.300s", call.Frame)
	}
	return call
}

// Answer answers a call with a result.
func (c *Client) Answer(call ToolCall, result string) {
	c.t.Helper()
	c.Send(`{"jsonrpc":"2.0","id":"` + call.ID + `","result":` + result + `}`)
}

// Serve answers every call with what f returns, until the socket ends.
func (c *Client) Serve(f func(ToolCall) string) {
	go func() {
		for {
			select {
			case raw := <-c.frames:
				var call ToolCall
				if json.Unmarshal([]byte(raw), &call) == nil && call.Method == "tools/call" {
					_ = c.TrySend(websocket.MessageText, []byte(`{"jsonrpc":"2.0","id":"`+call.ID+`","result":`+f(call)+`}`))
				}
			case <-c.ended:
				return
			}
		}
	}()
}

// Text is the result of a tool that says one thing.
func Text(s string) string {
	b, _ := json.Marshal(s) // a string always encodes
	return `{"content":[{"type":"text","text":` + string(b) + `}],"isError":false}`
}

// Response is an answer of REST.
type Response struct {
	Status int
	Type   string
	Header http.Header
	Body   map[string]any
	Raw    string
}

// Do sends a REST request as a user of trusted mode; an empty user sends none.
func (g *Gateway) Do(t testing.TB, method, path, user, body string, header http.Header) Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+g.HTTP+path, strings.NewReader(body))
	must(t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range header {
		req.Header[k] = v
	}
	if host := req.Header.Get("Host"); host != "" { // where net/http looks for it
		req.Host = host
	}
	if user != "" {
		req.Header.Set("X-User-Id", user)
	}
	return do(t, req)
}
