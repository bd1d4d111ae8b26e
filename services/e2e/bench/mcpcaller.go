package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hecaton-dev/hecaton/services/e2e/bench/nodes"
)

// mcpRequest is a request of MCP 2026-07-28, which needs no session. params are the members of its params but `_meta`, each with
// a comma behind it; named is the tool that is called, "" for none.
func mcpRequest(addr, user, method, named, params string) string {
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	if named != "" {
		named = "Mcp-Name: " + named + "\r\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "POST /mcp HTTP/1.1\r\nHost: %s\r\nX-User-Id: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\n%sContent-Length: %d\r\n\r\n%s", addr, user, method, named, len(body), body)
	return b.String()
}

// mcpCaller makes calls as a client of MCP, whose answers are JSON with a text.
type mcpCaller struct {
	poster
	*targets
	name    func(called) string // of the tool
	answers [maxWorkers][]byte  // the last of each worker, for their memory
}

// callMCP makes calls through the front door of one of our pods.
func callMCP(addr string, t *targets) *caller {
	return callTools(addr, t, func(to called) string { return to.node + "__" + tool })
}

// callSDK makes calls to the SDK's own server, whose tool is as good as empty.
func callSDK(addr string, t *targets, size int) *caller {
	return callTools(addr, t, func(called) string { return sdkTool(size) })
}

func callTools(addr string, t *targets, name func(called) string) *caller {
	c := &mcpCaller{poster: poster{addr: addr}, targets: t, name: name}
	return &caller{call: c.call, close: c.close}
}

func (c *mcpCaller) call(ctx context.Context, worker int) (int, error) {
	to := c.next(worker)
	name := c.name(to)
	answer, err := c.ask(ctx, worker, mcpRequest(c.addr, to.user, "tools/call", name, `"name":"`+name+`","arguments":`+arguments+`,`))
	if err != nil {
		return 0, err
	}
	size, err := textIn(answer)
	return nodes.TextSize(size), err
}

// ask returns an answer, which is valid until the worker's next one.
func (c *mcpCaller) ask(ctx context.Context, worker int, request string) ([]byte, error) {
	resp, err := c.post(ctx, worker, request)
	if err != nil {
		return nil, err
	}
	body := bytes.NewBuffer(c.answers[worker][:0])
	_, err = body.ReadFrom(resp.Body)
	c.answers[worker] = body.Bytes()
	return body.Bytes(), errors.Join(err, resp.Body.Close())
}

// textIn returns the size of the text in an answer, which has nothing that is escaped.
func textIn(answer []byte) (int, error) {
	_, text, found := bytes.Cut(answer, []byte(`"text":"`))
	end := bytes.IndexByte(text, '"')
	if !found || end < 0 {
		return 0, fmt.Errorf("no text in %.500s", answer)
	}
	return end, nil
}
