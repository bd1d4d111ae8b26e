package hostile_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

// toolRequest is a call of a user's node, with further headers that end with CR LF each.
func toolRequest(user, headers string) string {
	const body = `{"tool_name":"t"}`
	if headers == "" {
		headers = fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	return "POST /api/node/browser/tool HTTP/1.1\r\nHost: 127.0.0.1\r\nX-User-Id: " + user + "\r\nContent-Type: application/json\r\n" + headers + "\r\n" + body
}

// sendAll opens a connection and sends a text; the connection lives for 20 s at most.
func sendAll(t *testing.T, g *cluster.Gateway, text string) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", g.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return conn.(*net.TCPConn)
}

// TestACallerWhoGoesAwayCancelsTheCall: the node hears of it, in whatever way the connection ends, also when the caller has sent its
// next request by then.
func TestACallerWhoGoesAwayCancelsTheCall(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	node := c.Gateways[0].Extension(t, "u", "n")
	node.Register("")
	for i, g := range c.Gateways {
		for name, leave := range map[string]func(*net.TCPConn){
			"closed":      func(conn *net.TCPConn) { _ = conn.Close() },
			"reset":       func(conn *net.TCPConn) { _ = conn.SetLinger(0); _ = conn.Close() },
			"half closed": func(conn *net.TCPConn) { _ = conn.CloseWrite() },
			"pipelined": func(conn *net.TCPConn) {
				_, _ = io.WriteString(conn, "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
				_ = conn.Close()
			},
		} {
			conn := sendAll(t, g, toolRequest("u", ""))
			call := node.Call()
			leave(conn)
			if told := node.Call(); told.Method != "notifications/cancelled" || told.Params.RequestID != call.ID {
				t.Errorf("pod %d, %s: the node heard %s", i, name, told.Method)
			}
		}
	}
}

// TestNoRequestHidesInAnother: where a proxy and a gateway could disagree on where a request ends, the gateway refuses it, or ends it
// as the standard says and takes nothing of it for another user's request.
func TestNoRequestHidesInAnother(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	g := c.Gateways[0]
	victim := g.Extension(t, "victim", "n")
	victim.Register("")
	hidden := toolRequest("victim", "")
	length := fmt.Sprint(len(hidden))
	const health = "POST /health HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
	for name, text := range map[string]string{
		"a length that covers it":            health + "Content-Length: " + length + "\r\n\r\n" + hidden,
		"a coding that ends before it":       health + "Content-Length: " + length + "\r\nTransfer-Encoding: xchunked\r\n\r\n" + hidden,
		"a coding with a vertical tab":       health + "Content-Length: " + length + "\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" + hidden,
		"a coding behind a space":            health + "Content-Length: " + length + "\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + hidden,
		"two lengths":                        health + "Content-Length: " + length + "\r\nContent-Length: 0\r\n\r\n" + hidden,
		"two lengths in one":                 health + "Content-Length: " + length + ", 0\r\n\r\n" + hidden,
		"a length with a sign":               health + "Content-Length: +0\r\n\r\n" + hidden,
		"a length in hexadecimal":            health + "Content-Length: 0x0\r\n\r\n" + hidden,
		"a name with a NUL":                  health + "Content-Length\x00: 0\r\n\r\n" + hidden,
		"a carriage return inside a line":    health + "X: y\rContent-Length: 0\r\n\r\n" + hidden,
		"an unending chunk's size":           health + "Transfer-Encoding: chunked\r\n\r\n100000000000000000\r\n" + hidden,
		"after a request that ends all":      "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n" + hidden,
		"after a request of another version": "GET /health HTTP/3.0\r\nHost: 127.0.0.1\r\n\r\n" + hidden,
	} {
		conn := sendAll(t, g, text)
		_ = conn.CloseWrite()
		if answers, _ := io.ReadAll(conn); strings.Count(string(answers), "HTTP/1.1 200") > 1 {
			t.Errorf("%s: %s", name, answers)
		}
	}
	victim.Silent()
}

// TestAPipelinedFloodIsLimited as if each request had its own connection, and each is answered in its order.
func TestAPipelinedFloodIsLimited(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1, Gateway: func(_ int, cfg *gateway.Config) {
		cfg.Limits.CallsPerSecond, cfg.Limits.CallsBurst = 1, 10
	}})
	const requests = 300
	conn := sendAll(t, c.Gateways[0], strings.Repeat("GET /api/node/devices HTTP/1.1\r\nHost: 127.0.0.1\r\nX-User-Id: u\r\n\r\n", requests))
	in := bufio.NewReader(conn)
	count := map[int]int{}
	for range requests {
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("after %v: %v", count, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		count[resp.StatusCode]++
	}
	if count[http.StatusOK] < 10 || count[http.StatusOK] > 40 || count[http.StatusOK]+count[http.StatusTooManyRequests] != requests {
		t.Errorf("%v", count)
	}
}

// TestAHugeHeadIsRefused: some headers are large, but not that large.
func TestAHugeHeadIsRefused(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	conn := sendAll(t, c.Gateways[0], "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "+strings.Repeat("x", 100<<10)+"\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Error(resp.Status)
	}
}
