package mcp_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

// asking is a cluster in which ana's calls of "click" ask. Its node counts calls.
func asking(t *testing.T, settings string) (*cluster.Cluster, *cluster.Ledger, *cluster.Client) {
	t.Helper()
	c := cluster.Start(t, cluster.Options{Orchestrators: 2, Paired: true})
	ledger := &cluster.Ledger{}
	node := c.Gateways[0].Extension(t, "ana", "n1")
	node.Register(chrome)
	node.Serve(ledger.See)
	c.Gateways[1].Settle(t, "ana", settings)
	return c, ledger, node
}

const (
	onlyReads  = `{"mode":"use_allowlist","allowlist":["screenshot"]}`
	everything = `{"mode":"ask_everytime"}`
)

func clickCall(n int) string { return fmt.Sprintf(`"name":"click","arguments":{"n":%d}`, n) }

// asked returns the key and the state of the question with which a call ended.
func asked(t *testing.T, r answer) (key, state string) {
	t.Helper()
	requests, _ := r.at("result", "inputRequests").(map[string]any)
	state, _ = r.at("result", "requestState").(string)
	if r.at("result", "resultType") != "input_required" || state == "" || len(requests) != 1 {
		t.Fatalf("no question: %s", r.Raw)
	}
	for key = range requests {
	}
	return key, state
}

func response(state, key, content string) string {
	return `,"requestState":"` + state + `","inputResponses":{"` + key + `":` + content + `}`
}

const (
	yes = `{"action":"accept","content":{"decision":"approve"}}`
	no  = `{"action":"accept","content":{"decision":"reject","reason":"not today"}}`
)

func reason(r answer) any { return r.at("result", "_meta", "dev.hecaton/reason") }

// waiting returns the calls that wait for ana.
func waiting(t *testing.T, g *cluster.Gateway) []any {
	t.Helper()
	list, _ := g.Do(t, http.MethodGet, "/api/approvals", "ana", "", nil).Body["approvals"].([]any)
	return list
}

// decide is the person's own way, at any gateway.
func decide(t *testing.T, g *cluster.Gateway, id, body string) cluster.Response {
	t.Helper()
	return g.Do(t, http.MethodPost, "/api/approvals/"+id, "ana", body, nil)
}

// A call by a client that can ask ends with the question; it is made again with the answer, at the other pod, and that once.
func TestACallIsApprovedAtItsClient(t *testing.T) {
	t.Parallel()
	c, ledger, _ := asking(t, onlyReads)
	a, b := c.Gateways[0], c.Gateways[1]
	if r := newer(t, a, "", "tools/call", `"name":"screenshot","arguments":{"n":9}`, elicits); r.text() != "9" {
		t.Errorf("what only reads asks: %s", r.Raw)
	}
	r := newer(t, a, "", "tools/call", clickCall(1), elicits)
	key, state := asked(t, r)
	if m, _ := r.at("result", "inputRequests", key, "params", "message").(string); !strings.Contains(m, `"click" on the device "n1" with "{\"n\":1}" (it is not on your allow-list)`) {
		t.Error(m)
	}
	for name, wrong := range map[string]answer{
		"other arguments": newer(t, b, "", "tools/call", clickCall(2)+response(state, key, yes), elicits),
		"another tool":    newer(t, b, "", "tools/call", `"name":"n1__click","arguments":{"n":1}`+response(state, key, yes), elicits),
		"another user":    newer(t, b, "", "tools/call", clickCall(1)+response(state, key, yes), elicits, "X-User-Id", "eve"),
	} {
		if wrong.at("result", "isError") != true && wrong.at("error") == nil {
			t.Errorf("%s: %s", name, wrong.Raw)
		}
	}
	ledger.Once(t, 9)
	if r := newer(t, b, "", "tools/call", clickCall(1)+response(state, key, yes), elicits); r.text() != "1" {
		t.Fatal(r.Raw)
	}
	for _, g := range c.Gateways {
		if r := newer(t, g, "", "tools/call", clickCall(1)+response(state, key, yes), elicits); reason(r) != "APPROVAL_REFUSED" || !strings.Contains(r.text(), "used") {
			t.Errorf("replayed: %s", r.Raw)
		}
	}
	key, state = asked(t, newer(t, b, "", "tools/call", clickCall(3), elicits))
	if r := newer(t, a, "", "tools/call", clickCall(3)+response(state, key, no), elicits); reason(r) != "APPROVAL_REFUSED" || !strings.Contains(r.text(), "not today") {
		t.Error(r.Raw)
	}
	if r := newer(t, b, "", "tools/call", clickCall(3)+response(state, key, yes), elicits); reason(r) != "APPROVAL_REFUSED" {
		t.Errorf("a rejected call is approved: %s", r.Raw)
	}
	ledger.Once(t, 9, 1)
}

// Of many calls that bring one answer at once, at both pods, one runs.
func TestAnApprovalIsUsedOnce(t *testing.T) {
	t.Parallel()
	c, ledger, _ := asking(t, everything)
	key, state := asked(t, newer(t, c.Gateways[0], "", "tools/call", clickCall(1), elicits))
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() { newer(t, c.Gateways[i%2], "", "tools/call", clickCall(1)+response(state, key, yes), elicits) })
	}
	work.Wait()
	ledger.Once(t, 1)
}

// A client that cannot ask hears where the call can be approved; the person does, at any gateway, and the same call runs once.
func TestACallIsApprovedElsewhere(t *testing.T) {
	t.Parallel()
	c, ledger, node := asking(t, everything)
	a, b := c.Gateways[0], c.Gateways[1]
	s := session2025(t, a)
	for n, call := range map[int]func(*cluster.Gateway, int) answer{
		1: func(g *cluster.Gateway, n int) answer { return newer(t, g, "", "tools/call", clickCall(n), "") },
		2: func(g *cluster.Gateway, n int) answer { return older(t, g, s, "", "tools/call", clickCall(n)) },
	} {
		r := call(a, n)
		id, _ := r.at("result", "_meta", "dev.hecaton/approval", "id").(string)
		address, _ := r.at("result", "_meta", "dev.hecaton/approval", "address").(string)
		if reason(r) != "APPROVAL_REQUIRED" || r.at("result", "_meta", "dev.hecaton/outcome") != "not_delivered" || r.at("result", "isError") != true ||
			!strings.HasSuffix(address, "/api/approvals/"+id) || !strings.Contains(r.text(), id) {
			t.Fatal(r.Raw)
		}
		if again := call(b, n).at("result", "_meta", "dev.hecaton/approval", "id"); again != id {
			t.Errorf("asked a second time: %v, not %v", again, id)
		}
		w := waiting(t, b)
		w = w[len(w)-1:]
		if at(w[0], "id") != id || at(w[0], "tool_name") != "click" || at(w[0], "node_id") != "n1" || at(w[0], "tool_args") != fmt.Sprintf(`{"n":%d}`, n) {
			t.Errorf("%v", w)
		}
		for name, refused := range map[string]cluster.Response{
			"another user":     b.Do(t, http.MethodPost, "/api/approvals/"+id, "eve", `{"decision":"approved"}`, nil),
			"no decision":      decide(t, b, id, `{"decision":"maybe"}`),
			"another digest":   decide(t, b, id, `{"decision":"approved","digest":"x"}`),
			"no such approval": decide(t, b, "appr-x", `{"decision":"approved"}`),
		} {
			if refused.Status != 404 && refused.Status != 422 {
				t.Errorf("%s: %d %s", name, refused.Status, refused.Raw)
			}
		}
		if r := decide(t, b, id, `{"decision":"approved"}`); r.Status != 200 || at(r.Body, "state") != "approved" {
			t.Fatalf("%d %s", r.Status, r.Raw)
		}
		if r := decide(t, a, id, `{"decision":"rejected"}`); r.Status != 409 || r.Body["reason"] != "ALREADY_DECIDED" {
			t.Errorf("%d %s", r.Status, r.Raw)
		}
		if r := call(b, n); r.text() != fmt.Sprint(n) {
			t.Error(r.Raw)
		}
		if r := call(a, n); reason(r) != "APPROVAL_REQUIRED" || r.at("result", "_meta", "dev.hecaton/approval", "id") == id {
			t.Errorf("an approval is used twice: %s", r.Raw)
		}
	}
	ledger.Once(t, 1, 2)
	// Rejected: the same call is not asked about again for a while. Approved for a connection that has gone: asked about again.
	r := newer(t, a, "", "tools/call", clickCall(3), "")
	id, _ := r.at("result", "_meta", "dev.hecaton/approval", "id").(string)
	decide(t, b, id, `{"decision":"rejected","reason":"no"}`)
	if r := newer(t, b, "", "tools/call", clickCall(3), ""); reason(r) != "APPROVAL_REFUSED" || !strings.Contains(r.text(), "no") {
		t.Error(r.Raw)
	}
	r = newer(t, a, "", "tools/call", clickCall(4), "")
	id, _ = r.at("result", "_meta", "dev.hecaton/approval", "id").(string)
	decide(t, b, id, `{"decision":"approved"}`)
	node.Close()
	other := b.Extension(t, "ana", "n1")
	other.Register(chrome)
	other.Serve(ledger.See)
	testkit.Eventually(t, 5*time.Second, func() bool {
		r = newer(t, a, "", "tools/call", clickCall(4), "")
		return reason(r) == "APPROVAL_REQUIRED"
	}, "a call that was approved for another connection does not ask")
	ledger.Once(t, 1, 2)
}

// An older client is asked on the call's stream and answers at any pod; a decision that is made elsewhere meanwhile counts as well.
func TestAnOlderClientApproves(t *testing.T) {
	t.Parallel()
	c, ledger, _ := asking(t, everything)
	for n, version := range map[int]string{1: "2025-06-18", 2: "2025-11-25"} {
		s := session(t, c.Gateways[0], version, `"elicitation":{}`)
		call := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{%s}}`, clickCall(n))
		stream := follow(t, open(t, c.Gateways[0], http.MethodPost, "", call, s))
		question := stream.next(t)
		id, _ := question["id"].(string)
		if question["method"] != "elicitation/create" {
			t.Fatalf("%v", question)
		}
		request(t, c.Gateways[1], http.MethodPost, "", `{"jsonrpc":"2.0","id":"`+id+`","result":`+yes+`}`, s)
		if m := stream.next(t); at(m, "result", "content", "0", "text") != fmt.Sprint(n) {
			t.Errorf("%v", m)
		}
		stream = follow(t, open(t, c.Gateways[1], http.MethodPost, "", strings.Replace(call, `{"n":`, `{"n":1`, 1), s))
		if question := stream.next(t); question["method"] != "elicitation/create" {
			t.Fatalf("%v", question)
		}
		w := waiting(t, c.Gateways[0])
		if len(w) != 1 {
			t.Fatalf("%v", w)
		}
		decide(t, c.Gateways[0], at(w[0], "id").(string), `{"decision":"approved"}`)
		if m := stream.next(t); at(m, "result", "content", "0", "text") != fmt.Sprint(10+n) {
			t.Errorf("%v", m)
		}
	}
	ledger.Once(t, 1, 2, 11, 12)
}

// The settings hold at every pod from the answer that sets them on, also where another verdict was remembered. Calls of the
// person's own programs ask nobody.
func TestApprovalSettingsHoldAtOnce(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Orchestrators: 2, Paired: true})
	node := c.Gateways[0].Extension(t, "ana", "n1")
	node.Register(chrome)
	says(node, "n1")
	for round := range 3 {
		for i, settings := range []string{`{"mode":"run_everything"}`, everything, onlyReads, `{"mode":"use_allowlist","allowlist":["click"]}`} {
			if round+i > 0 {
				c.Gateways[i%2].Settle(t, "ana", settings)
			} // else: a user who has chosen nothing
			for _, g := range c.Gateways {
				asks := settings == everything || settings == onlyReads
				testkit.Eventually(t, 2*time.Second, func() bool { // the word takes a hop
					return (reason(newer(t, g, "", "tools/call", clickCall(1), "")) == "APPROVAL_REQUIRED") == asks
				}, "the settings %s do not hold", settings)
			}
			if r := c.Gateways[1].Do(t, http.MethodPost, "/api/node/browser/tool", "ana", `{"tool_name":"click","tool_args":{}}`, nil); r.Body["success"] != true {
				t.Errorf("REST asks: %s", r.Raw)
			}
		}
	}
}

// A question about the device and one about the approval are asked one after the other.
func TestTwoQuestionsOfOneCall(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Orchestrators: 1})
	twoBrowsers(t, c)
	c.Gateways[0].Settle(t, "ana", everything)
	const call = `"name":"call_tool","arguments":{"name":"click"}`
	key, state := asked(t, newer(t, c.Gateways[0], "?mode=search", "tools/call", call, elicits))
	key, state = asked(t, newer(t, c.Gateways[1], "?mode=search", "tools/call", call+response(state, key, `{"action":"accept","content":{"node":"n2"}}`), elicits))
	if r := newer(t, c.Gateways[0], "?mode=search", "tools/call", call+response(state, key, yes), elicits); r.text() != "n2 click" {
		t.Error(r.Raw)
	}
}

// Tools of saved services ask by the same rules.
func TestToolsOfServicesAsk(t *testing.T) {
	t.Parallel()
	c, _ := agents(t)
	s := newService(t)
	saveServer(t, c.Gateways[0], "notes", s.URL)
	newer(t, c.Gateways[0], withAgents, "tools/list", "", "")
	c.Gateways[0].Settle(t, "ana", everything)
	key, state := asked(t, newer(t, c.Gateways[0], withAgents, "tools/call", callSearch, elicits))
	for range 2 {
		newer(t, c.Gateways[1], withAgents, "tools/call", callSearch+response(state, key, yes), elicits)
	}
	if n := s.calls.Load(); n != 1 {
		t.Errorf("%d calls", n)
	}
	if r := newer(t, c.Gateways[1], withAgents, "tools/call", callSearch, ""); reason(r) != "APPROVAL_REQUIRED" {
		t.Error(r.Raw)
	}
}

// Calls that wait are bounded, and new users ask where the operator says so. Where nobody can be asked for the settings, nothing runs
// whose verdict is not known.
func TestApprovalsAreBounded(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Orchestrators: 1, Gateway: func(_ int, cfg *gateway.Config) { cfg.MCPApprovals = "always" }})
	for _, user := range []string{"ana", "bob"} {
		node := c.Gateways[0].Extension(t, user, "n1")
		node.Register(chrome)
		says(node, "n1")
	}
	for n := range 50 {
		if r := newer(t, c.Gateways[0], "", "tools/call", clickCall(n), ""); reason(r) != "APPROVAL_REQUIRED" {
			t.Fatal(r.Raw)
		}
	}
	if r := newer(t, c.Gateways[0], "", "tools/call", clickCall(50), ""); reason(r) != "APPROVAL_REFUSED" || !strings.Contains(r.text(), "50 calls wait") {
		t.Error(r.Raw)
	}
	if r := newer(t, c.Gateways[0], "", "tools/call", clickCall(1), "", "X-User-Id", "bob"); reason(r) != "APPROVAL_REQUIRED" {
		t.Errorf("another user is bounded: %s", r.Raw)
	}
	c.Orchestrators[0].Stop(t)
	began := time.Now()
	if r := newer(t, c.Gateways[0], "", "tools/call", clickCall(1), "", "X-User-Id", "bob"); reason(r) != "AGENT_UNAVAILABLE" || r.at("result", "_meta", "dev.hecaton/outcome") != "not_delivered" {
		t.Error(r.Raw)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}
