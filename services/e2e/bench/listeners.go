package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// listenFor is the member of params that asks for changes of the list of tools.
const listenFor = `"notifications":{"toolsListChanged":true},`

const (
	acknowledged = `"notifications/subscriptions/acknowledged"`
	listChanged  = `"notifications/tools/list_changed"`
)

// listenWithin bounds the wait for a stream to begin.
const listenWithin = 10 * time.Second

// listenTo opens the stream of changes of a user's tools, and returns once the server says that it is one.
func listenTo(ctx context.Context, addr, user string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if err := begun(conn, mcpRequest(addr, user, "subscriptions/listen", "", listenFor)); err != nil {
		_ = conn.Close() // begun's error says more
		return nil, fmt.Errorf("listen as %s: %w", user, err)
	}
	return conn, nil
}

func begun(conn net.Conn, request string) error {
	if err := conn.SetDeadline(time.Now().Add(listenWithin)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, request); err != nil {
		return err
	}
	var heard []byte
	part := make([]byte, 1<<10)
	for !strings.Contains(string(heard), acknowledged) || !strings.HasSuffix(string(heard), "\n\r\n") {
		n, err := conn.Read(part)
		if heard = append(heard, part[:n]...); err != nil {
			return fmt.Errorf("%w after %q", err, heard)
		}
	}
	return conn.SetDeadline(time.Time{})
}

// listener is a stream that is read.
type listener struct {
	conn net.Conn
	// changes has the time of each notification; those beyond its capacity are dropped. It is closed with the stream.
	changes chan time.Time
	work    sync.WaitGroup
}

func follow(ctx context.Context, addr, user string) (*listener, error) {
	conn, err := listenTo(ctx, addr, user)
	if err != nil {
		return nil, err
	}
	l := &listener{conn: conn, changes: make(chan time.Time, 16)}
	l.work.Go(l.read)
	return l, nil
}

func (l *listener) read() {
	defer close(l.changes)
	lines := bufio.NewScanner(l.conn)
	for lines.Scan() {
		if !strings.Contains(lines.Text(), listChanged) {
			continue
		}
		select {
		case l.changes <- time.Now():
		default:
		}
	}
}

// forget drops what was heard so far.
func (l *listener) forget() {
	for len(l.changes) > 0 {
		<-l.changes
	}
}

// close ends the stream and waits for its reader.
func (l *listener) close() {
	_ = l.conn.Close() // whoever leaves does not look back
	l.work.Wait()
}
