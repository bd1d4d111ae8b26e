package hostile_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// hostile are ids that mean something to NATS, Redis, URLs, file systems, JSON or Unicode.
var hostile = []string{
	"a", "A", "a.b", "*", ">", "a.>", "a b", " a", "a ", ".", "..", "../", "../../etc/passwd", "a/b", `a\b`, "a:b", "{a}", "{", "}", "{}", "a}:nodes",
	"a}:node:b", "nodes", "=2e", "a=2eb", "%2e", "a%2eb", "a%00", "a+b", "a&node_id=b", "a?b", "a#b", "a;b", `"`, "'", `{"a":1}`, "<b>", "null", "$SYS.>",
	"_INBOX.a", "hecaton.node", "ü", "u\u0308", "漢字", "\U0001f600", "\u200b", "\ufeffa", "\u202ea", "ß", "ss", strings.Repeat("x", 256), strings.Repeat(".", 256),
	strings.Repeat("漢", 85) + "x",
}

// alike are pairs of a user and a node that would be the same one if ids were put together without care.
var alike = [][2]string{
	{"a.b", "c"}, {"a", "b.c"}, {"a=2eb", "c"}, {"a", "b=2ec"}, {"a:node:b", "c"}, {"a", "node:b:c"}, {"a}", "c"}, {"{a}", "c"}, {"a/b", "c"}, {"a", "b/c"},
	{"a.b.c", "call"}, {"a", "b.c.call"}, {"*", "c"}, {">", "c"}, {"a", "*"}, {"a", ">"}, {"user_a", "c"}, {"ext_a", "c"}, {"a ", "c"}, {"a", " c"},
}

// someone is a user with a node and a web client on another pod.
type someone struct {
	user, node string
	ext, web   *cluster.Client
}

func (s *someone) name() string { return fmt.Sprintf("%.20q/%.20q", s.user, s.node) }

// everybody connects one node for each pair, and one web client.
func everybody(t *testing.T, c *cluster.Cluster) []*someone {
	t.Helper()
	var all []*someone
	for i, id := range hostile {
		all = append(all, &someone{user: id, node: hostile[len(hostile)-1-i]})
	}
	for _, pair := range alike {
		all = append(all, &someone{user: pair[0], node: pair[1]})
	}
	for i, s := range all {
		here, far := c.Gateways[i%2], c.Gateways[(i+1)%2]
		s.ext = here.Extension(t, s.user, s.node)
		s.ext.Register("")
		s.web = far.Web(t, s.user)
	}
	return all
}

func TestHostileIDsReachTheirOwnNodesOnly(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Registry: manyNodes})
	all := everybody(t, c)
	owned := map[string]int{}
	for _, s := range all {
		owned[s.user]++
		s.ext.Serve(func(cluster.ToolCall) string { return strconv.Quote(s.name()) })
	}
	for _, s := range all {
		for pod, g := range c.Gateways {
			resp, err := g.Tools.CallTool(t.Context(), &toolv1.CallToolRequest{Call: &toolv1.Call{UserId: s.user, NodeId: s.node, ToolName: "t"}})
			if got := string(resp.GetAnswer().GetResultJson()); err != nil || got != strconv.Quote(s.name()) || resp.GetAnswer().GetNodeId() != s.node {
				t.Errorf("pod %d, %s: answered by %s, %v", pod, s.name(), got, err)
			}
		}
		r := c.Gateways[0].Post(t, "/api/node/browser/tool?user_id="+url.QueryEscape(s.user), "", fmt.Sprintf(`{"tool_name":"t","node_id":%s}`, quoted(s.node)))
		if r.Status != http.StatusOK || r.Body["result"] != s.name() {
			t.Errorf("REST, %s: %d %s", s.name(), r.Status, r.Raw)
		}
		r = c.Gateways[1].Get(t, "/api/node/devices?user_id="+url.QueryEscape(s.user), "")
		if r.Body["total"] != float64(owned[s.user]) {
			t.Errorf("%s has %d nodes: %s", s.name(), owned[s.user], r.Raw)
		}
	}
}

func TestHostileIDsHearTheirOwnFramesOnly(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Registry: manyNodes})
	all := everybody(t, c)
	webs := map[string][]*cluster.Client{}
	for _, s := range all {
		webs[s.user] = append(webs[s.user], s.web)
	}
	for i, s := range all {
		s.ext.Send(fmt.Sprintf(`{"type":"task_complete","task_id":%d}`, i))
		for _, w := range webs[s.user] {
			w.Expect(fmt.Sprintf(`{"type":"workflow_complete","task_id":%d,"success":true,"result":null,"output":null}`, i))
		}
	}
	for _, s := range all {
		s.web.Silent()
		s.ext.Silent()
	}
}

func TestHostileIDsHaveTheirOwnSessionsAndKeys(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Registry: manyNodes})
	all := everybody(t, c)
	for i, s := range all {
		for _, session := range []string{"s", hostile[i%len(hostile)]} {
			as := "?user_id=" + url.QueryEscape(s.user)
			body := fmt.Sprintf(`{"session_id":%s,"node_id":%s}`, quoted(session), quoted(s.node))
			if r := c.Gateways[0].Post(t, "/api/node/bind"+as, "", body); r.Status != http.StatusOK {
				t.Errorf("%s binds %q: %d %s", s.name(), session, r.Status, r.Raw)
			}
			if session == "." || session == ".." {
				continue // a path cannot name these
			}
			r := c.Gateways[1].Get(t, "/api/node/session/"+url.PathEscape(session)+as, "")
			if r.Status != http.StatusOK || r.Body["node_id"] != s.node || r.Body["session_id"] != session {
				t.Errorf("%s in %q: %d %s", s.name(), session, r.Status, r.Raw)
			}
		}
	}
	client := redis.NewClient(&redis.Options{Addr: c.Redis.Addr()})
	defer client.Close()
	keys, err := client.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) < len(all) {
		t.Fatal(len(keys), err)
	}
	const token = `[A-Za-z0-9_=-]+`
	known := regexp.MustCompile(`^hecaton:(users|gateways|gateway:` + token + `(:nodes)?|\{` + token + `\}:(nodes|last|gone|(node|epoch|session):` + token + `))$`)
	for _, key := range keys {
		if !known.MatchString(key) {
			t.Errorf("the key %q", key)
		}
	}
}

func TestHostileIDsSeeTheirOwnEventsOnly(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{})
	registry := c.Registry(0)
	watched := []string{"a", "a.b", "*", ">", "{a}", "a}:nodes", "ü", "=2e"}
	streams := map[string]interface {
		Recv() (*nodev1.WatchNodesResponse, error)
	}{}
	for _, user := range watched {
		stream, err := registry.WatchNodes(t.Context(), &nodev1.WatchNodesRequest{UserId: user})
		if err != nil {
			t.Fatal(err)
		}
		if ready, err := stream.Recv(); err != nil || ready.GetEvent().GetKind() != nodev1.NodeEvent_KIND_READY {
			t.Fatal(ready, err)
		}
		streams[user] = stream
	}
	for i, user := range watched {
		ext := c.Gateways[i%2].Extension(t, user, "of "+user)
		ext.Silent()
		ext.Cut()
	}
	for _, user := range watched {
		for _, kind := range []nodev1.NodeEvent_Kind{nodev1.NodeEvent_KIND_ONLINE, nodev1.NodeEvent_KIND_OFFLINE} {
			got, err := streams[user].Recv()
			if e := got.GetEvent(); err != nil || e.GetKind() != kind || e.GetUserId() != user || e.GetNode().GetInfo().GetNodeId() != "of "+user {
				t.Errorf("%q heard %v, %v", user, e, err)
			}
		}
	}
}
