package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

// quick has gateways whose long calls say often that they live.
func quick(_ int, c *gateway.Config) { c.MCPHeartbeat = 50 * time.Millisecond }

// start begins a call and returns once the device has it.
func start(t *testing.T, g *cluster.Gateway, node *cluster.Client, h http.Header, body string) (cluster.ToolCall, <-chan answer, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	done := make(chan answer, 1)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+g.HTTP+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = h
	go func() {
		defer close(done)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		a := answer{Status: resp.StatusCode, Header: resp.Header, Raw: string(raw)}
		if err == nil {
			done <- a
		}
	}()
	return node.Call(), done, cancel
}

func wait(t *testing.T, done <-chan answer) (answer, bool) {
	t.Helper()
	select {
	case a, ok := <-done:
		return a, ok
	case <-time.After(15 * time.Second):
		t.Fatal("the call did not end")
		return answer{}, false
	}
}

func olderCall(id, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"n1__click"` + params + `}}`
}

func TestAClosedStreamCancelsInTheStatelessEra(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	node := c.Gateways[0].Extension(t, "ana", "n1")
	node.Register(chrome)
	for _, g := range c.Gateways {
		body, h := newerRequest("tools/call", `"name":"n1__click"`, "")
		call, _, cancel := start(t, g, node, h, body)
		cancel()
		if got := node.Call(); got.Method != "notifications/cancelled" || got.Params.RequestID != call.ID {
			t.Errorf("the device heard %s", got.Frame)
		}
	}
}

func TestACancelComesInAtAnyPod(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 3})
	node := c.Gateways[0].Extension(t, "ana", "n1")
	node.Register(chrome)
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		s, other := session(t, c.Gateways[0], version, ""), session(t, c.Gateways[0], version, "")
		for i, at := range c.Gateways {
			call, done, _ := start(t, c.Gateways[1], node, s, olderCall("5", ""))
			cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"enough"}}`
			request(t, at, http.MethodPost, "", cancel, other)                                 // the same id of another session
			request(t, at, http.MethodPost, "", strings.Replace(cancel, ":5,", `:"5",`, 1), s) // another id
			if r := request(t, at, http.MethodPost, "", cancel, s); r.Status != 202 {
				t.Errorf("the cancel: %d %s", r.Status, r.Raw)
			}
			if got := node.Call(); got.Method != "notifications/cancelled" || got.Params.RequestID != call.ID {
				t.Errorf("%s, cancelled at pod %d: the device heard %s", version, i, got.Frame)
			}
			if a, _ := wait(t, done); strings.Contains(a.Raw, "result") || strings.Contains(a.Raw, "error") {
				t.Errorf("a cancelled call was answered: %s", a.Raw)
			}
		}
	}
}

func TestALostStreamIsNoCancelInTheOlderEra(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	node := c.Gateways[0].Extension(t, "ana", "n1")
	node.Register(chrome)
	call, _, cut := start(t, c.Gateways[1], node, session(t, c.Gateways[0], "2025-11-25", ""), olderCall("5", ""))
	cut()
	if r := newer(t, c.Gateways[0], "", "tools/call", `"name":"devices"`, ""); r.text() == "" {
		t.Error(r.Raw)
	}
	node.Silent()
	node.Answer(call, cluster.Text("done"))
	testkit.Eventually(t, 5*time.Second, func() bool { return c.Gateways[0].OpenCalls(t) == 0 }, "the call is still open")
}

func TestProgress(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateway: quick})
	node := c.Gateways[0].Extension(t, "ana", "n1")
	node.Register(chrome)
	s := session(t, c.Gateways[0], "2025-11-25", "")
	for name, ask := range map[string]func(meta string) (string, http.Header){
		"newer": func(meta string) (string, http.Header) { return newerRequest("tools/call", `"name":"n1__click"`, meta) },
		"older": func(meta string) (string, http.Header) { return olderCall("7", `,"_meta":{`+meta+`}`), s },
	} {
		body, h := ask(`"progressToken":"mine"`)
		stream := follow(t, opened(t, c.Gateways[1], body, h))
		call := node.Call()
		for _, progress := range []string{`"progress":1,"total":4`, `"progress":1`, `"progress":2.5,"message":"half \"done\""`, `"progress":"3"`, `"progress":2`} {
			frame := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%q,%s}}`, call.ID, progress)
			must(t, node.TrySend(websocket.MessageText, []byte(frame)))
		}
		last, beats, told := -1.0, 0, []string{}
		for beats < 2 {
			m := stream.next(t)
			value, ok := at(m, "params", "progress").(float64)
			if m["method"] != "notifications/progress" || at(m, "params", "progressToken") != "mine" || !ok || value <= last && last >= 0 {
				t.Fatalf("%s: %v after %v", name, m, last)
			}
			last = value
			if text, _ := at(m, "params", "message").(string); strings.HasPrefix(text, "still running") {
				beats++
			} else {
				told = append(told, fmt.Sprintf("%v %v %v", value, at(m, "params", "total"), at(m, "params", "message")))
			}
		}
		if want := "[1 4 <nil> 2.5 <nil> half \"done\"]"; fmt.Sprint(told) != want {
			t.Errorf("%s: %v, want %s", name, told, want)
		}
		node.Answer(call, cluster.Text("done"))
		for m := stream.next(t); ; m = stream.next(t) {
			if m["id"] == 7.0 {
				break
			}
		}
		if m := stream.next(t); m != nil {
			t.Errorf("%s: %v after the answer", name, m)
		}

		body, h = ask(`"x":1`)
		silent := follow(t, opened(t, c.Gateways[1], body, h))
		call = node.Call()
		<-silent.comments // a sign of life, and no progress
		node.Answer(call, cluster.Text("done"))
		if m := silent.next(t); m["id"] != 7.0 {
			t.Errorf("%s: %v without a token", name, m)
		}
	}
}

// opened sends a request and returns at once with what its answer will be.
func opened(t *testing.T, g *cluster.Gateway, body string, h http.Header) opening {
	t.Helper()
	pr, pw := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+g.HTTP+"/mcp", strings.NewReader(body))
	must(t, err)
	req.Header = h.Clone()
	go func() {
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			_ = pw.CloseWithError(err)
			return
		}
		defer resp.Body.Close()
		if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
			_, _ = io.WriteString(pw, "data: ")
		}
		_, err = io.Copy(pw, resp.Body)
		_, _ = io.WriteString(pw, "\n")
		_ = pw.CloseWithError(err)
	}()
	return opening{Body: pr}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestFailuresSayWhetherTheToolRan(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Orchestrators: 1})
	a, b := c.Gateways[0], c.Gateways[1]
	node := a.Extension(t, "ana", "n1")
	node.Register(chrome)
	if r := newer(t, b, "", "tools/list", "", ""); r.at("result", "tools", "0", "name") != "click" {
		t.Fatal(r.Raw)
	}
	failed := func(r answer, reason, outcome string, words ...string) {
		t.Helper()
		if r.Status != 200 || r.at("result", "isError") != true || r.at("result", "_meta", "dev.hecaton/reason") != reason || r.at("result", "_meta", "dev.hecaton/outcome") != outcome {
			t.Errorf("%d %s, want %s, %s", r.Status, r.Raw, reason, outcome)
		}
		for _, w := range words {
			if !strings.Contains(r.text(), w) {
				t.Errorf("%q does not say %q", r.text(), w)
			}
		}
	}
	failed(newer(t, b, "", "tools/call", `"name":"click"`, `"dev.hecaton/timeout-ms":150`), "TOOL_TIMEOUT", "unknown", "may have run")
	node.Call()
	node.Call() // the cancel
	body, h := newerRequest("tools/call", `"name":"click"`, "")
	_, done, _ := start(t, b, node, h, body)
	node.Cut()
	lost, _ := wait(t, done)
	lost.Messages = append(lost.Messages, object(t, lost.Raw))
	failed(lost, "NODE_DISCONNECTED", "unknown", "may have run")
	desk := a.Desktop(t, "ana", "d1")
	desk.Register(`"node_name":"Desk","available_tools":["click"]`)
	s := session(t, a, "2025-06-18", "")
	for _, name := range []string{"click", "n1__click", "screenshot"} {
		words := []string{"n1", "not connected", "did not run", "Desk"}
		if name != "screenshot" {
			words = append(words, "d1__click")
		}
		failed(newer(t, b, "", "tools/call", `"name":"`+name+`"`, ""), "NODE_NOT_CONNECTED", "not_delivered", words...)
		failed(older(t, b, s, "", "tools/call", `"name":"`+name+`"`), "NODE_NOT_CONNECTED", "not_delivered", words...)
	}
}

func TestResultsPassUntouched(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	node := c.Gateways[0].Extension(t, "ana", "n1")
	node.Register(chrome)
	picture := strings.Repeat("QUJD", 1<<20)
	results := map[string]struct{ result, want string }{
		"text":            {`{"content":[{"type":"text","text":"a"}],"isError":false}`, `"content":[{"type":"text","text":"a"}],"isError":false}`},
		"odd numbers":     {`{"content":[], "structuredContent": {"n":1.00e2,"big":123456789012345678901234567890}}`, `"content":[],"structuredContent":{"n":1.00e2,"big":123456789012345678901234567890}}`},
		"an error":        {`{"content":[{"type":"text","text":"no"}],"isError":true}`, `"isError":true}`},
		"a picture":       {`{"content":[{"type":"image","data":"` + picture + `","mimeType":"image/png"}]}`, `"data":"` + picture + `"`},
		"a screenshot":    {`{"content":[],"_screenshot":"iVBORw"}`, `"content":[{"type":"image","mimeType":"image/png","data":"iVBORw"}]}`},
		"a photo":         {`{"content":[{"type":"text","text":"x"}],"_screenshot":"\/9j\/4"}`, `,{"type":"image","mimeType":"image/jpeg","data":"\/9j\/4"}]}`},
		"a data URL":      {`{"content":[],"_screenshot":"data:image/webp;base64,UklG"}`, `"mimeType":"image/webp","data":"UklG"`},
		"no MCP":          {`{"pid":1}`, `"content":[{"type":"text","text":"{\"pid\":1}"}],"isError":false}`},
		"a plain text":    {`"done"`, `"content":[{"type":"text","text":"done"}],"isError":false}`},
		"content null":    {`{"content":null}`, `"content":[{"type":"text"`},
		"a server's word": {`{"content":[],"resultType":"input_required","requestState":"x","_meta":{"dev.hecaton/reason":"LIE","io.modelcontextprotocol/serverInfo":1,"own":2}}`, `"content":[]`},
		"lines":           {"{\n\"content\": [\n{\"type\":\"text\",\r\n\"text\":\"a\\nb\"}]\n}", `a\nb`},
	}
	node.Serve(func(call cluster.ToolCall) string {
		for name, r := range results {
			if strings.Contains(string(call.Params.Arguments), `"`+name+`"`) {
				return r.result
			}
		}
		return `{}`
	})
	s := session(t, c.Gateways[0], "2025-06-18", "")
	for name, r := range results {
		for _, g := range c.Gateways {
			got := newer(t, g, "", "tools/call", `"name":"n1__click","arguments":{"which":"`+name+`"}`, "")
			if !strings.Contains(got.Raw, r.want) || got.at("result", "resultType") != "complete" || strings.Contains(got.Raw, "LIE") || strings.Contains(got.Raw, "requestState") {
				t.Errorf("%s: %.600s", name, got.Raw)
			}
			got = older(t, g, s, "", "tools/call", `"name":"n1__click","arguments":{"which":"`+name+`"}`)
			if !strings.Contains(got.Raw, r.want) || got.at("result", "resultType") != nil {
				t.Errorf("%s, older: %.600s", name, got.Raw)
			}
		}
	}
}

func TestADevicesErrorIsAResult(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	node := c.Gateways[0].Extension(t, "ana", "n1")
	node.Register(chrome)
	body, h := newerRequest("tools/call", `"name":"n1__click"`, "")
	call, done, _ := start(t, c.Gateways[1], node, h, body)
	node.Send(`{"jsonrpc":"2.0","id":"` + call.ID + `","error":{"code":-32020,"message":"no such button"}}`)
	a, _ := wait(t, done)
	a.Messages = append(a.Messages, object(t, a.Raw))
	if a.at("result", "isError") != true || !strings.Contains(a.text(), "no such button") || strings.Contains(a.Raw, "-32020") {
		t.Error(a.Raw)
	}
}
