package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
)

// poster sends HTTP requests, each worker on a connection of its own that it keeps. It is no [http.Client], whose goroutines
// would take processor time from what is measured.
type poster struct {
	addr  string
	conns [maxWorkers]posterConn // each is its worker's own
}

type posterConn struct {
	net.Conn // nil until the first request
	in       *bufio.Reader
}

// posterBuffer is room for a large part of an answer.
const posterBuffer = 64 << 10

// post sends a whole request and returns its answer, which is a good one. The body must be read to its end.
func (p *poster) post(ctx context.Context, worker int, request string) (*http.Response, error) {
	conn := &p.conns[worker]
	if conn.Conn == nil {
		var d net.Dialer
		socket, err := d.DialContext(ctx, "tcp", p.addr)
		if err != nil {
			return nil, err
		}
		*conn = posterConn{socket, bufio.NewReaderSize(socket, posterBuffer)}
	}
	if _, err := io.WriteString(conn, request); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(conn.in, nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		problem, err := io.ReadAll(resp.Body)
		return nil, errors.Join(fmt.Errorf("%s: %s", resp.Status, problem), err, resp.Body.Close())
	}
	return resp, nil
}

func (p *poster) close() error {
	var errs []error
	for _, conn := range p.conns {
		if conn.Conn != nil {
			errs = append(errs, conn.Close())
		}
	}
	return errors.Join(errs...)
}
