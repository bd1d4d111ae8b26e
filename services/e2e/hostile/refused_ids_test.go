package hostile_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	registry "github.com/hecaton-dev/hecaton/services/node-registry/app"
)

// manyNodes lets one user have every node of a table.
func manyNodes(cfg *registry.Config) { cfg.NodesPerUser = 1000 }

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always encodes
	return string(b)
}

func TestIDsThatAreNoneAreClosedWith4003(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	for name, id := range map[string]string{
		"257 bytes": strings.Repeat("x", 257), "300 bytes": strings.Repeat("x", 300), "257 bytes of unicode": strings.Repeat("é", 128) + "x",
		"60000 bytes": strings.Repeat("x", 60000),
		"NUL":         "a\x00", "newline": "a\nb", "escape": "\x1b[31m", "DEL": "a\x7f", "C1": "a\u0085b", "CR LF": "a\r\nSUB x 1\r\n",
		"invalid UTF-8": "a\xff", "overlong": "\xc0\xae\xc0\xae/", "surrogate": "\xed\xa0\x80", "cut off": "a\xe6\xbc",
	} {
		escaped := url.QueryEscape(id)
		for _, target := range []string{
			"/ws/extension?client_id=user_" + escaped, "/ws/extension?client_id=user_a&node_id=" + escaped, "/ws/extension?client_id=" + escaped + "&node_id=n",
			"/ws/desktop?client_id=desktop_" + escaped, "/ws/desktop?client_id=desktop_a&node_id=" + escaped, "/ws/web?user_id=" + escaped,
		} {
			if code := c.Gateways[0].Open(t, target).Ended(); code != 4003 {
				t.Errorf("%s in %.60s: closed with %d", name, target, code)
			}
		}
	}
	if r := c.Gateways[0].Get(t, "/api/node/devices", "a"); r.Body["total"] != float64(0) {
		t.Error(r.Raw)
	}
}

func TestIDsOf256BytesAreFine(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	long := strings.Repeat("é", 128)
	web := c.Gateways[0].Web(t, long)
	ext := c.Gateways[1].Extension(t, long, long)
	ext.Send(`{"type":"register"}`)
	ext.Expect(`{"type":"registered","node_id":"` + long + `","success":true}`)
	web.Send(`{"type":"get_workflows"}`)
	ext.Expect(`{"type":"get_workflows"}`)
	ext.Send(`{"type":"workflows_list"}`)
	web.Expect(`{"type":"workflows_list"}`)
	unnamed := c.Gateways[0].Open(t, "/ws/extension?client_id=user_"+url.QueryEscape(long))
	unnamed.Send(`{"type":"register"}`)
	unnamed.Expect(`{"type":"registered","node_id":"ext_` + long[:252] + `","success":true}`)
	renamed := c.Gateways[0].Desktop(t, long, "short")
	renamed.Send(`{"type":"register","node_id":"` + long[:254] + `xy"}`)
	renamed.Expect(`{"type":"registered","node_id":"` + long[:254] + `xy","success":true}`)
}

// TestIDsThatAreNoneDoNotRenameANode: in a message they are answered, and nothing changes.
func TestIDsThatAreNoneDoNotRenameANode(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1})
	ext := c.Gateways[0].Extension(t, "u", "n")
	for id, problem := range map[string]string{
		strings.Repeat("x", 257): "node_id has 257 bytes, at most 256 are allowed",
		`a\u0000`:                "node_id holds the control character U+0000",
		`a\u009fb`:               "node_id holds the control character U+009F",
	} {
		ext.Send(`{"type":"register","node_id":"` + id + `"}`)
		ext.Expect(`{"type":"registered","success":false,"error":"` + problem + `"}`)
	}
	ext.Send("{\"type\":\"register\",\"node_id\":\"a\xff\"}")
	ext.Expect(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error: invalid UTF-8 in a string at byte 30"}}`)
	ext.Send(`{"type":"register"}`)
	ext.Expect(`{"type":"registered","node_id":"n","success":true}`)
}
