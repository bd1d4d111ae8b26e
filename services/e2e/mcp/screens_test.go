package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

const (
	screenOfN1 = "hecaton://devices/n1/screenshot"
	aPicture   = "iVBORw0KGgoA" // whole groups of four letters, as all that is put to it
)

// shows makes a node answer each call with a picture that ends with the call's arguments, in letters.
func shows(node *cluster.Client, size int) {
	node.Serve(func(call cluster.ToolCall) string {
		letters := strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' {
				return r
			}
			return -1
		}, string(call.Params.Arguments))
		return `{"content":[{"type":"text","text":"shown"}],"_screenshot":"` + aPicture + strings.Repeat("A", size) + letters + `"}`
	})
}

// shoot has a node answer with a picture that ends with a word.
func shoot(t *testing.T, g *cluster.Gateway, word string) {
	t.Helper()
	if r := newer(t, g, "", "tools/call", `"name":"n1__click","arguments":{"`+word+`":1}`, ""); r.text() != "shown" {
		t.Fatal(r.Raw)
	}
}

// screen reads the screenshot at a pod until it ends with a word: the holder keeps it once the answer has left.
func screen(t *testing.T, g *cluster.Gateway, word string) answer {
	t.Helper()
	var r answer
	testkit.Eventually(t, 5*time.Second, func() bool {
		r = read(t, g, withAgents, screenOfN1)
		blob, _ := r.at("result", "contents", "0", "blob").(string)
		return strings.HasPrefix(blob, aPicture) && strings.HasSuffix(blob, word)
	}, "the screenshot is not there")
	return r
}

// The last screenshot of a device is a resource at every pod, however the call came, and goes with the device's connection.
func TestTheLastScreenshotOfADeviceIsAResource(t *testing.T) {
	t.Parallel()
	c, _ := agents(t)
	put(t, c.Gateways[0], "ana", "a.txt", "text/plain", "x")
	node := c.Gateways[0].Extension(t, "ana", "n1")
	node.Register(chrome)
	shows(node, 3<<20) // more than a message of the bus may have
	for _, g := range c.Gateways {
		r := newer(t, g, withAgents, "resources/list", "", "")
		if r.at("result", "resources", "0", "uri") != screenOfN1 || r.at("result", "resources", "1", "uri") != "hecaton://workspace/a.txt" {
			t.Error(r.Raw)
		}
		if r := newer(t, g, withAgents, "resources/templates/list", "", ""); !strings.Contains(r.Raw, `"uriTemplate":"hecaton://devices/{device}/screenshot"`) {
			t.Error(r.Raw)
		}
		if r := read(t, g, withAgents, screenOfN1); r.at("error", "code") != -32602.0 || !strings.Contains(r.Raw, "has answered with a picture") {
			t.Error(r.Raw)
		}
	}
	shoot(t, c.Gateways[1], "once")
	for _, g := range c.Gateways {
		r := screen(t, g, "once")
		if r.at("result", "contents", "0", "mimeType") != "image/png" || r.at("result", "contents", "0", "uri") != screenOfN1 || r.at("result", "cacheScope") != "private" {
			t.Errorf("%.300s", r.Raw)
		}
		if old := older(t, g, session2025(t, g), withAgents, "resources/read", `"uri":"`+screenOfN1+`"`); old.at("result", "contents", "0", "mimeType") != "image/png" || old.at("result", "ttlMs") != nil {
			t.Errorf("%.300s", old.Raw)
		}
	}
	if r := c.Gateways[0].Do(t, http.MethodPost, "/api/node/browser/tool", "ana", `{"node_id":"n1","tool_name":"click","tool_args":{"next":1}}`, nil); r.Status != http.StatusOK {
		t.Fatalf("%.300s", r.Raw)
	}
	screen(t, c.Gateways[1], "next")
	for _, g := range c.Gateways {
		for what, r := range map[string]answer{
			"another user":      newer(t, g, withAgents, "resources/read", `"uri":"`+screenOfN1+`"`, "", "Mcp-Name", screenOfN1, "X-User-Id", "eve"),
			"hidden by the URL": read(t, g, withAgents+"&nodes=n2", screenOfN1),
			"no such device":    read(t, g, withAgents, "hecaton://devices/n2/screenshot"),
			"no such path":      read(t, g, withAgents, "hecaton://devices/n1/secrets"),
			"another spelling":  read(t, g, withAgents, "hecaton://devices/%6e1/screenshot"),
		} {
			if r.at("error", "code") != -32602.0 {
				t.Errorf("%s: %.300s", what, r.Raw)
			}
		}
		if r := newer(t, g, withAgents+"&nodes=n2", "resources/list", "", ""); strings.Contains(r.Raw, "n1") {
			t.Error(r.Raw)
		}
		if r := newer(t, g, "", "resources/read", `"uri":"`+screenOfN1+`"`, "", "Mcp-Name", screenOfN1); r.at("error", "code") != -32601.0 {
			t.Errorf("%.300s", r.Raw)
		}
	}
	node.Close()
	testkit.Eventually(t, 5*time.Second, func() bool {
		return strings.Contains(read(t, c.Gateways[1], withAgents, screenOfN1).Raw, "is not connected now")
	}, "the screenshot of a device that is gone is still shown")
	again := c.Gateways[1].Extension(t, "ana", "n1")
	again.Register(chrome)
	for _, g := range c.Gateways { // a device that comes back has no picture yet
		if r := read(t, g, withAgents, screenOfN1); !strings.Contains(r.Raw, "has answered with a picture") {
			t.Errorf("%.300s", r.Raw)
		}
	}
}

// The official client subscribes at one pod, in both eras, and hears of each new screenshot, wherever it is taken; and no more once it
// has unsubscribed.
func TestASubscriberHearsOfNewScreenshots(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2026-07-28", "2025-06-18"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c, _ := agents(t)
			node := c.Gateways[0].Extension(t, "ana", "n1")
			node.Register(chrome)
			shows(node, 100)
			updated := make(chan string, 100)
			client := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, &sdk.ClientOptions{
				ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
			})
			// Behind a balancer the subscription comes to another pod than the stream.
			endpoint := "http://" + cluster.Balancer(t, "ana", c.Gateways...) + "/mcp" + withAgents
			s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: endpoint}, &sdk.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }() // the server has no DELETE
			if caps := s.InitializeResult().Capabilities; caps.Resources == nil || !caps.Resources.Subscribe {
				t.Errorf("%+v", caps.Resources)
			}
			if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: screenOfN1}); err != nil {
				t.Fatal(err)
			}
			hears := func() bool {
				select {
				case uri := <-updated:
					if uri != screenOfN1 {
						t.Errorf("heard of %s", uri)
					}
					return true
				case <-time.After(300 * time.Millisecond):
					return false
				}
			}
			for i, g := range c.Gateways {
				testkit.Eventually(t, 10*time.Second, func() bool { // the stream may not be there yet
					shoot(t, g, "word")
					return hears()
				}, "nothing is heard at pod "+fmt.Sprint(i))
			}
			for range 3 { // by clients of a session each pod is asked in turn
				got, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: screenOfN1})
				if err != nil || len(got.Contents) != 1 || len(got.Contents[0].Blob) < 50 {
					t.Errorf("%v %v", err, got)
				}
			}
			if err := s.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: screenOfN1}); err != nil {
				t.Fatal(err)
			}
			testkit.Eventually(t, 10*time.Second, func() bool {
				shoot(t, c.Gateways[0], "word")
				return !hears()
			}, "updates come after the end of the subscription")
			if version != "2026-07-28" {
				for _, uri := range []string{"hecaton://workspace/a.txt", "file:///etc/passwd", ""} {
					if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err == nil {
						t.Errorf("subscribed to %q", uri)
					}
				}
			}
		})
	}
}

// A stream is told of what was agreed, and of no other user's devices.
func TestAListenerIsToldOfItsOwnScreenshots(t *testing.T) {
	t.Parallel()
	c, _ := agents(t)
	nodes := map[string]*cluster.Client{}
	for _, user := range []string{"ana", "eve"} {
		nodes[user] = c.Gateways[0].Extension(t, user, "n1")
		nodes[user].Register(chrome)
		shows(nodes[user], 100)
	}
	body, h := newerRequest("subscriptions/listen", `"notifications":{"resourceSubscriptions":["`+screenOfN1+`","hecaton://workspace/a","hecaton://devices/n9/screenshot",7]}`, "")
	stream := follow(t, open(t, c.Gateways[1], http.MethodPost, withAgents+"&nodes=n1", body, h))
	if ack := stream.next(t); fmt.Sprint(at(ack, "params", "notifications")) != "map[resourceSubscriptions:["+screenOfN1+"]]" {
		t.Fatalf("%v", ack)
	}
	if r := newer(t, c.Gateways[0], "", "tools/call", `"name":"n1__click","arguments":{}`, "", "X-User-Id", "eve"); r.text() != "shown" {
		t.Fatal(r.Raw)
	}
	shoot(t, c.Gateways[0], "mine")
	m := stream.next(t)
	if m["method"] != "notifications/resources/updated" || at(m, "params", "uri") != screenOfN1 || at(m, "params", "_meta", "io.modelcontextprotocol/subscriptionId") != 7.0 {
		t.Fatalf("%v", m)
	}
	screen(t, c.Gateways[1], "mine")
	select {
	case m := <-stream.messages:
		t.Errorf("a second time: %v", m)
	case <-time.After(200 * time.Millisecond):
	}
}
