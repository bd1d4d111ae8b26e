package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// restCaller makes calls by REST, each worker on a connection of its own that it keeps. It is no [http.Client], whose
// goroutines would take processor time from what is measured.
type restCaller struct {
	*targets
	addr  string
	named bool
	// copied is how many bytes of a result the answer has twice.
	copied int
	conns  [maxWorkers]restConn // each is its worker's own
}

type restConn struct {
	net.Conn // nil until the first call
	in       *bufio.Reader
}

// restBuffer is room for a large part of an answer.
const restBuffer = 64 << 10

func callREST(addr string, t *targets, named bool, copied int) *caller {
	c := &restCaller{targets: t, addr: addr, named: named, copied: copied}
	return &caller{call: c.call, close: c.close}
}

func (c *restCaller) call(ctx context.Context, worker int) (int, error) {
	conn := &c.conns[worker]
	if conn.Conn == nil {
		var d net.Dialer
		socket, err := d.DialContext(ctx, "tcp", c.addr)
		if err != nil {
			return 0, err
		}
		*conn = restConn{socket, bufio.NewReaderSize(socket, restBuffer)}
	}
	if _, err := io.WriteString(conn, c.request(c.next(worker))); err != nil {
		return 0, err
	}
	resp, err := http.ReadResponse(conn.in, nil)
	if err != nil {
		return 0, err
	}
	if resp.StatusCode != http.StatusOK {
		problem, err := io.ReadAll(resp.Body)
		return 0, errors.Join(fmt.Errorf("%s: %s", resp.Status, problem), err, resp.Body.Close())
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

func (c *restCaller) close() error {
	var errs []error
	for _, conn := range c.conns {
		if conn.Conn != nil {
			errs = append(errs, conn.Close())
		}
	}
	return errors.Join(errs...)
}
