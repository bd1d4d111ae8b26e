package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// restCaller makes calls by REST.
type restCaller struct {
	poster
	*targets
	named bool
	// copied is how many bytes of a result the answer has twice.
	copied int
}

func callREST(addr string, t *targets, named bool, copied int) *caller {
	c := &restCaller{poster: poster{addr: addr}, targets: t, named: named, copied: copied}
	return &caller{call: c.call, close: c.close}
}

func (c *restCaller) call(ctx context.Context, worker int) (int, error) {
	resp, err := c.post(ctx, worker, c.request(c.next(worker)))
	if err != nil {
		return 0, err
	}
	size, err := io.Copy(io.Discard, resp.Body)
	return int(size) - len(restAround) - c.copied, errors.Join(err, resp.Body.Close())
}

// restAround is what an answer by REST has beyond the result and the copy of its text.
const restAround = `{"result":` + `,"text":""` + `,"success":true}` + "\n"

func (c *restCaller) request(to called) string {
	node := ""
	if c.named {
		node = `,"node_id":"` + to.node + `"`
	}
	body := `{"tool_name":"` + tool + `","tool_args":` + arguments + node + `}`
	var b strings.Builder
	fmt.Fprintf(&b, "POST /api/node/browser/tool HTTP/1.1\r\nHost: %s\r\nX-User-Id: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		c.addr, to.user, len(body), body)
	return b.String()
}
