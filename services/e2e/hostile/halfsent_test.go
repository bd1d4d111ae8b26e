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

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

const jwtSecret = "a secret of tests that is long enough"

func withTokens(_ int, c *gateway.Config) {
	c.Auth = auth.Config{Mode: auth.JWT, Secret: jwtSecret}
	c.Services.Token = "a service token of tests"
	c.BodyGrace, c.BodyRate = time.Second, 64<<10
}

// half is a client that says more about its body than it sends.
type half struct {
	net.Conn
	in *bufio.Reader
}

// halfSend opens a connection, and sends a request of which the body's end is missing.
func halfSend(t *testing.T, g *cluster.Gateway, head, body string) half {
	t.Helper()
	conn, err := net.Dial("tcp", g.HTTP)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	h := half{conn, bufio.NewReader(conn)}
	if _, err := io.WriteString(conn, head+"\r\n"+body); err != nil {
		t.Fatal(err)
	}
	return h
}

// answer waits for the answer to a request, and for the connection's end.
func (h half) answer(t *testing.T, within time.Duration) (status int, body string) {
	t.Helper()
	_ = h.SetReadDeadline(time.Now().Add(within))
	resp, err := http.ReadResponse(h.in, nil)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil {
		_, err = io.Copy(io.Discard, h.in)
	}
	if err != nil {
		t.Errorf("the connection did not end: %v", err)
	}
	return resp.StatusCode, string(b)
}

// TestABodyIsReadOnceItsUserIsKnown: a request without a token is refused at once, however large its announced body, and
// the pod reads nothing of it.
func TestABodyIsReadOnceItsUserIsKnown(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: -1, GatewayProcesses: 1, Orchestrators: 1, Gateway: withTokens})
	g := c.Gateways[0]
	before := metric(t, g, "go_memstats_alloc_bytes_total")
	sent := 0
	for _, route := range append(bodyRoutes, "PUT /api/workspace/files/a", "GET /api/agent/sessions/s/events", "GET /api/node/devices") {
		for _, framing := range []string{"Content-Length: 9000000", "Content-Length: 200000", "Transfer-Encoding: chunked"} {
			body := strings.Repeat("x", 100_000)
			if strings.HasPrefix(framing, "Transfer") {
				body = "20000\r\n" + body
			}
			h := halfSend(t, g, route+" HTTP/1.1\r\nHost: "+g.HTTP+"\r\nContent-Type: application/json\r\n"+framing+"\r\n", body)
			if status, text := h.answer(t, 10*time.Second); status != http.StatusUnauthorized {
				t.Errorf("%s, %s: %d %s", route, framing, status, text)
			}
			sent += len(body)
		}
	}
	if cost := metric(t, g, "go_memstats_alloc_bytes_total") - before; cost > float64(testkit.MemoryLimit(sent)) {
		t.Errorf("%.0f bytes were allocated for %d that nobody should read", cost, sent)
	}
}

// TestABodyHasToKeepComing: with a token, too. One that comes evenly has all the time that it needs.
func TestABodyHasToKeepComing(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1, Orchestrators: 1, Gateway: func(_ int, c *gateway.Config) {
		c.BodyGrace, c.BodyRate = time.Second, 64<<10
	}})
	g := c.Gateways[0]
	for _, route := range []string{"POST /api/agent/invoke", "POST /api/node/browser/tool", "POST /api/tools/call", "PUT /api/agent/approval-settings",
		"PUT /api/workspace/files/a", "GET /api/agent/sessions/s/events", "GET /api/node/devices", "DELETE /api/tools/t"} {
		h := halfSend(t, g, route+" HTTP/1.1\r\nHost: "+g.HTTP+"\r\nX-User-Id: u\r\nContent-Type: application/json\r\nContent-Length: 10000\r\n", "{")
		began := time.Now()
		status, text := h.answer(t, 10*time.Second)
		if status != http.StatusRequestTimeout || !strings.Contains(text, "65536 bytes a second") {
			t.Errorf("%s: %d %s", route, status, text)
		}
		if took := time.Since(began); took < 500*time.Millisecond {
			t.Errorf("%s: after %v", route, took)
		}
	}
	const pieces = 12
	h := halfSend(t, g, fmt.Sprintf("PUT /api/workspace/files/slow HTTP/1.1\r\nHost: %s\r\nX-User-Id: u\r\nConnection: close\r\nContent-Length: %d\r\n", g.HTTP, pieces*32<<10), "")
	for range pieces { // 160 KiB a second, for longer than the grace
		if _, err := io.WriteString(h, strings.Repeat("x", 32<<10)); err != nil {
			t.Fatal(err)
		}
		testkit.Pass(200 * time.Millisecond)
	}
	if status, text := h.answer(t, 10*time.Second); status != http.StatusOK {
		t.Errorf("a body that came evenly: %d %s", status, text)
	}
}

// TestAReaderWhoDoesNotReadIsLeft: a handler may think for as long as it likes; only its client has to be quick.
func TestAReaderWhoDoesNotReadIsLeft(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1, Gateway: func(_ int, c *gateway.Config) { c.WriteTimeout = time.Second; c.BodyGrace = time.Second }})
	g := c.Gateways[0]
	node := g.Extension(t, "u", "n")
	node.Register("")
	large := quoted(strings.Repeat("x", 9*mib))
	node.Serve(func(cluster.ToolCall) string {
		testkit.Pass(3 * time.Second)
		return large
	})
	const body = `{"tool_name":"t"}`
	h := halfSend(t, g, fmt.Sprintf("POST /api/node/browser/tool HTTP/1.1\r\nHost: %s\r\nX-User-Id: u\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", g.HTTP, len(body)), body)
	if err := h.Conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	quick := g.Post(t, "/api/node/browser/tool", "u", body)
	if quick.Status != http.StatusOK || len(quick.Raw) < 9*mib {
		t.Errorf("one who reads gets %d, %d bytes", quick.Status, len(quick.Raw))
	}
	testkit.Eventually(t, 30*time.Second, func() bool {
		_, err := h.Write([]byte("x"))
		return err != nil
	}, "the one who does not read is cut off")
	_ = h.SetReadDeadline(time.Now().Add(10 * time.Second))
	if n, err := io.Copy(io.Discard, h.in); n >= 9*mib {
		t.Errorf("one who did not read got %d bytes: %v", n, err)
	}
}

// TestUnauthenticatedConnectionsAreBounded: connections that have not authenticated compete only with each other for their places.
func TestUnauthenticatedConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1, Gateway: func(i int, c *gateway.Config) {
		withTokens(i, c)
		c.MaxUnknownIP = 20
	}})
	g := c.Gateways[0]
	for port, addr := range map[string]string{"http": g.HTTP, "grpc": g.GRPC} {
		for range 60 {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
		open := metric(t, g, `hecaton_gateway_unknown_connections{port="`+port+`"}`)
		refused := metric(t, g, `hecaton_gateway_unknown_refused_total{port="`+port+`"}`)
		if open > 20 || refused < 40 {
			t.Errorf("%s: %v open, %v refused", port, open, refused)
		}
	}
	// Another address is let in.
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 9)}}
	client := http.Client{Transport: &http.Transport{DialContext: from.DialContext, DisableKeepAlives: true}}
	resp, err := client.Get("http://" + g.HTTP + "/health")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
}
