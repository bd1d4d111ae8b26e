package embedded_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/node"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	"github.com/hecaton-dev/hecaton/services/hecaton/embedded"
)

// Another program on the laptop finds the ports of the bus and of Redis: without the credentials of this start, those of
// another start among them, it gets nothing.
func TestServersOfThisProcessLetNobodyIn(t *testing.T) {
	t.Parallel()
	c, other := start(t, embedded.Options{Gateways: 2}), start(t, embedded.Options{})
	connect(t, c.Gateways[0], "hello", func(context.Context, node.Call) (node.Result, error) { return node.Text("hello"), nil })
	for _, url := range []string{c.NATSURL.Reveal(), withUser(c.NATSURL.Reveal(), "gateway", ""), withUser(c.NATSURL.Reveal(), "gateway", "gateway")} {
		if nc, err := nats.Connect(url); err == nil {
			nc.Close()
			t.Errorf("the bus lets in %s", url)
		} else if !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, url := range []string{c.RedisURL.Reveal(), withUser(c.RedisURL.Reveal(), "node-registry", "node-registry")} {
		o, err := redis.ParseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		o.MaxRetries = -1
		client := redis.NewClient(o)
		for _, command := range [][]any{{"keys", "*"}, {"get", "hecaton:users"}, {"flushall"}, {"config", "get", "*"}, {"eval", "return 1", 0}, {"ping"}} {
			if answer, err := client.Do(t.Context(), command...).Result(); err == nil {
				t.Errorf("Redis answers %v to %v of %s", answer, command, url)
			}
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}
	if c.NATSURL == other.NATSURL || strings.Contains(c.NATSURL.Reveal()+c.RedisURL.Reveal(), "@") {
		t.Error("what is shown of the servers has credentials")
	}
	// It forges a call without asking who it may be.
	raw, err := net.Dial("tcp", strings.TrimPrefix(c.NATSURL.Reveal(), "nats://"))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if err := raw.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(raw, "CONNECT {\"verbose\":true}\r\nSUB > 1\r\nPUB hecaton.node.ana.desk.call 2\r\n{}\r\nPING\r\n")
	said := ""
	for lines := bufio.NewScanner(raw); lines.Scan(); {
		said += lines.Text() + "\n"
	}
	if !strings.Contains(said, "Authorization Violation") || strings.Contains(said, "+OK") || strings.Contains(said, "MSG") {
		t.Errorf("the bus says %q", said)
	}
	// And what the cluster is for goes on, across pods.
	if answer, err := callTool(t.Context(), t, c.Gateways[1], "hello"); err != nil || !strings.Contains(string(answer.GetResultJson()), "hello") {
		t.Errorf("%v, %v", answer, err)
	}
}

func withUser(url, user, password string) string {
	return strings.Replace(url, "://", "://"+user+":"+password+"@", 1)
}

// Nor does it get in where gateways take large answers from each other, whatever it knows of the gateway.
func TestPeersPortLetsNobodyIn(t *testing.T) {
	t.Parallel()
	addr := fmt.Sprintf("127.0.0.1:%d", testkit.FreePort())
	c := start(t, embedded.Options{Gateway: func(_ int, c *gateway.Config) { c.PeerAddr = addr }})
	id := bus.Token(c.Gateways[0].ID)
	for _, preface := range []string{"hecaton-peer/1 " + id + " \n", "hecaton-peer/2 " + id + " \n\n", "hecaton-peer/2 " + id + " nonce\n" + strings.Repeat("0", 64) + "\n"} {
		raw, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = raw.SetDeadline(time.Now().Add(10 * time.Second))
		fmt.Fprint(raw, preface)
		said := ""
		for lines := bufio.NewScanner(raw); lines.Scan(); {
			if said = lines.Text(); said == "welcome" {
				t.Errorf("%q is welcome", preface)
				break
			}
		}
		_ = raw.Close()
	}
}
