package mcp_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

func TestMain(m *testing.M) { cluster.Main(m) }

const chrome = `"node_name":"Chrome","node_type":"extension","os":"macOS","available_tools":["click","screenshot"],"max_concurrent_tasks":5`

// answer is what came back.
type answer struct {
	Status int
	Header http.Header
	Raw    string
	// Messages are those of the body, of an event stream or of JSON.
	Messages []map[string]any
}

// last is the last message, which is the response.
func (a answer) last() map[string]any {
	if len(a.Messages) == 0 {
		return nil
	}
	return a.Messages[len(a.Messages)-1]
}

// at reads a value by its path in the last message.
func (a answer) at(path ...string) any { return at(a.last(), path...) }

func at(v any, path ...string) any {
	for _, name := range path {
		switch container := v.(type) {
		case map[string]any:
			v = container[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(container) {
				return nil
			}
			v = container[i]
		default:
			return nil
		}
	}
	return v
}

// text is the first text of a tool's result.
func (a answer) text() string {
	s, _ := a.at("result", "content", "0", "text").(string)
	return s
}

// headers are those of every client.
func headers(more ...string) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "X-User-Id": {"ana"}}
	for i := 0; i+1 < len(more); i += 2 {
		h.Set(more[i], more[i+1])
		if more[i+1] == "" {
			h.Del(more[i])
		}
	}
	return h
}

// request sends a request whose answer is read to the end.
func request(t testing.TB, g *cluster.Gateway, method, query, body string, h http.Header) answer {
	t.Helper()
	resp := open(t, g, method, query, body, h)
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{Status: resp.Status, Header: resp.Header, Raw: string(raw)}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		for _, line := range strings.Split(a.Raw, "\n") {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				a.Messages = append(a.Messages, object(t, data))
			}
		}
	} else if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		a.Messages = append(a.Messages, object(t, a.Raw))
	}
	return a
}

func object(t testing.TB, raw string) (m map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(raw), &m); err != nil {
		t.Fatalf("%v in %.500s", err, raw)
	}
	return m
}

// open sends a request and returns once its answer begins.
func open(t testing.TB, g *cluster.Gateway, method, query, body string, h http.Header) opening {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+g.HTTP+"/mcp"+query, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = maps.Clone(h)
	if host := h.Get("Host"); host != "" {
		req.Host = host
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return opening{resp.StatusCode, resp.Header, resp.Body}
}

// opening is an answer that has begun. Its body is closed with the test.
type opening struct {
	Status int
	Header http.Header
	Body   io.Reader
}

// newer sends a request of 2026-07-28. params are the members but `_meta`; meta are further members of that.
func newer(t testing.TB, g *cluster.Gateway, query, method, params, meta string, more ...string) answer {
	t.Helper()
	body, h := newerRequest(method, params, meta)
	for i := 0; i+1 < len(more); i += 2 {
		h.Set(more[i], more[i+1])
	}
	return request(t, g, http.MethodPost, query, body, h)
}

func newerRequest(method, params, meta string) (string, http.Header) {
	if params != "" {
		params += ","
	}
	if meta != "" {
		meta = "," + meta
	}
	body := `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{` + params +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}` + meta + `}}}`
	h := headers("Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method)
	var named struct {
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	if json.Unmarshal([]byte(body), &named) == nil && named.Params.Name != "" && method == "tools/call" {
		h.Set("Mcp-Name", named.Params.Name)
	}
	return body, h
}

// session begins one and returns its headers.
func session(t testing.TB, g *cluster.Gateway, version, capabilities string) http.Header {
	t.Helper()
	a := request(t, g, http.MethodPost, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+version+
		`","capabilities":{`+capabilities+`},"clientInfo":{"name":"t","version":"1"}}}`, headers())
	id := a.Header.Get("Mcp-Session-Id")
	if a.Status != 200 || id == "" || a.at("result", "protocolVersion") != version {
		t.Fatalf("initialize: %d %s", a.Status, a.Raw)
	}
	return headers("Mcp-Session-Id", id, "Mcp-Protocol-Version", version)
}

// older sends a request of a session.
func older(t testing.TB, g *cluster.Gateway, s http.Header, query, method, params string) answer {
	t.Helper()
	return request(t, g, http.MethodPost, query, `{"jsonrpc":"2.0","id":7,"method":"`+method+`","params":{`+params+`}}`, s)
}

// events reads an event stream as it comes.
type events struct {
	messages chan map[string]any
	comments chan struct{}
}

func follow(t testing.TB, resp opening) *events {
	t.Helper()
	e := &events{messages: make(chan map[string]any, 1000), comments: make(chan struct{}, 1000)}
	go func() {
		defer close(e.messages)
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var m map[string]any
				if json.Unmarshal([]byte(data), &m) == nil {
					e.messages <- m
				}
			} else if strings.HasPrefix(lines.Text(), ":") {
				e.comments <- struct{}{}
			}
		}
	}()
	return e
}

// next returns the next message; nil where the stream has ended.
func (e *events) next(t testing.TB) map[string]any {
	t.Helper()
	select {
	case m := <-e.messages:
		return m
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came for 10 s")
		return nil
	}
}
