package mcp_test

import (
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

const withAgents = "?include=agent"

// agents is a cluster of two gateways with agents whose model is scripted.
func agents(t *testing.T) (*cluster.Cluster, *modeltest.Server) {
	t.Helper()
	model := modeltest.New(t)
	return cluster.Start(t, cluster.Options{Orchestrators: 2, Paired: true, Model: model.URL()}), model
}

// elicits are the capabilities of a client that can ask its person, in the stateless revision.
const elicits = `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}`

func TestRunAgentIsThereForWhoAsksForIt(t *testing.T) {
	t.Parallel()
	c, _ := agents(t)
	for _, g := range c.Gateways {
		if got := strings.Join(listed(t, g, ""), " "); got != "devices" {
			t.Errorf("without include: %s", got)
		}
		if got := strings.Join(listed(t, g, withAgents), " "); got != "devices run_agent" {
			t.Errorf("with include: %s", got)
		}
		if r := newer(t, g, "", "tools/call", `"name":"run_agent","arguments":{"prompt":"x"}`, ""); r.at("error", "code") != -32602.0 {
			t.Errorf("what is hidden can be called: %s", r.Raw)
		}
		if r := newer(t, g, withAgents, "tools/call", `"name":"run_agent","arguments":{}`, ""); r.at("result", "isError") != true || !strings.Contains(r.text(), "prompt is required") {
			t.Error(r.Raw)
		}
	}
}

// A run is a tool: it says how far it is, answers with its last words and its session, and the session goes on at another pod.
func TestARunIsATool(t *testing.T) {
	t.Parallel()
	c, model := agents(t)
	model.Script(modeltest.Say("").Then(modeltest.Call("click", `{"n":1}`)), modeltest.Say("Clicked once."), modeltest.Say("As I said: once."))
	node := c.Gateways[0].Extension(t, "ana", "chrome")
	node.Register(`"available_tools":["click"]`)
	node.Serve(func(cluster.ToolCall) string { return cluster.Text("1") })
	c.Gateways[1].RunEverything(t, "ana")

	r := newer(t, c.Gateways[1], withAgents, "tools/call", `"name":"run_agent","arguments":{"prompt":"Click once."}`, `"progressToken":"p"`)
	session, _ := r.at("result", "structuredContent", "session_id").(string)
	if r.text() != "Clicked once." || session == "" || r.at("result", "structuredContent", "finish_reason") != "stop" || r.at("result", "isError") != false {
		t.Fatal(r.Raw)
	}
	var told []string
	for _, m := range r.Messages[:len(r.Messages)-1] {
		if at(m, "params", "progressToken") != "p" {
			t.Errorf("%v", m)
		}
		message, _ := at(m, "params", "message").(string)
		told = append(told, message)
	}
	if got := strings.Join(told, ", "); got != "calls click, click has answered" {
		t.Errorf("it told %q", got)
	}
	s := session2025(t, c.Gateways[0])
	r = older(t, c.Gateways[0], s, withAgents, "tools/call", `"name":"run_agent","arguments":{"prompt":"How often?","session_id":"`+session+`"}`)
	if r.text() != "As I said: once." || r.at("result", "structuredContent", "session_id") != session {
		t.Error(r.Raw)
	}
	// Without a prompt the call tells how the last run ended.
	r = newer(t, c.Gateways[0], withAgents, "tools/call", `"name":"run_agent","arguments":{"session_id":"`+session+`"}`, "")
	if r.text() != "As I said: once." || r.at("result", "structuredContent", "finish_reason") != "stop" {
		t.Error(r.Raw)
	}
	r = newer(t, c.Gateways[0], withAgents, "tools/call", `"name":"run_agent","arguments":{"session_id":"nobody's"}`, "")
	if r.at("result", "isError") != true || r.at("result", "_meta", "dev.hecaton/reason") != "SESSION_NOT_FOUND" {
		t.Error(r.Raw)
	}
}

func session2025(t *testing.T, g *cluster.Gateway) map[string][]string {
	t.Helper()
	return session(t, g, "2025-11-25", "")
}

// What a run wants to have approved is the person's to say: the call ends with the question, and is made again with the answer at
// another pod. The answer counts once.
func TestAnApprovalIsInputOfTheCall(t *testing.T) {
	t.Parallel()
	c, model := agents(t)
	model.Script(modeltest.Say("").Then(modeltest.Call("click", `{"n":1}`)), modeltest.Say("Clicked."))
	ledger := &cluster.Ledger{}
	node := c.Gateways[0].Extension(t, "ana", "chrome")
	node.Register(`"available_tools":["click"]`)
	node.Serve(ledger.See)
	const call = `"name":"run_agent","arguments":{"prompt":"Click."}`

	r := newer(t, c.Gateways[0], withAgents, "tools/call", call, elicits)
	state, _ := r.at("result", "requestState").(string)
	requests, _ := r.at("result", "inputRequests").(map[string]any)
	if r.at("result", "resultType") != "input_required" || state == "" || len(requests) != 1 {
		t.Fatal(r.Raw)
	}
	key := ""
	for k, request := range requests {
		key = k
		if message, _ := at(request, "params", "message").(string); !strings.Contains(message, `"click" on the device "chrome" with "{\"n\":1}"`) {
			t.Errorf("%v", request)
		}
	}
	answer := call + `,"requestState":"` + state + `","inputResponses":{"` + key + `":{"action":"accept","content":{"decision":"approve"}}}`
	for range 2 { // the second time it is used already
		r = newer(t, c.Gateways[1], withAgents, "tools/call", answer, elicits)
		if r.text() != "Clicked." || r.at("result", "structuredContent", "finish_reason") != "stop" {
			t.Fatal(r.Raw)
		}
	}
	ledger.Once(t, 1)
	// With another prompt the state is none: nothing begins.
	r = newer(t, c.Gateways[1], withAgents, "tools/call", strings.Replace(answer, "Click.", "Click all.", 1), elicits)
	if r.at("result", "isError") != true {
		t.Error(r.Raw)
	}
	if n := len(model.Requests()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
}

// A client that cannot ask hears that the run waits, and what to do; its arguments approve nothing.
func TestARunThatWaitsSaysSo(t *testing.T) {
	t.Parallel()
	c, model := agents(t)
	model.Script(modeltest.Say("").Then(modeltest.Call("click", `{"n":1}`)), modeltest.Say("Clicked."))
	node := c.Gateways[0].Extension(t, "ana", "chrome")
	node.Register(`"available_tools":["click"]`)
	r := newer(t, c.Gateways[0], withAgents, "tools/call", `"name":"run_agent","arguments":{"prompt":"Click.","decision":"approve"}`, "")
	if r.at("result", "isError") != true || r.at("result", "structuredContent", "finish_reason") != "interrupt" || !strings.Contains(r.text(), "waits for the user") {
		t.Error(r.Raw)
	}
	node.Silent()
}

// A client that goes takes its run with it.
func TestACancelledCallEndsItsRun(t *testing.T) {
	t.Parallel()
	c, model := agents(t)
	model.Script(modeltest.Say("").Then(modeltest.Call("click", `{}`)), modeltest.Say("Done."))
	node := c.Gateways[0].Extension(t, "ana", "chrome")
	node.Register(`"available_tools":["click"]`)
	c.Gateways[1].RunEverything(t, "ana")
	s := session2025(t, c.Gateways[1])
	resp := open(t, c.Gateways[1], "POST", withAgents, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"run_agent","arguments":{"prompt":"Click."},"_meta":{"progressToken":1}}}`, s)
	followed := follow(t, resp)
	if m := followed.next(t); at(m, "params", "message") != "calls click" {
		t.Errorf("%v", m)
	}
	call := node.Call()
	// The cancellation comes in at another pod.
	if r := request(t, c.Gateways[0], "POST", withAgents, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`, s); r.Status != 202 {
		t.Fatal(r.Raw)
	}
	if got := node.Next(); !strings.Contains(got, `"method":"notifications/cancelled"`) || !strings.Contains(got, call.ID) {
		t.Error(got)
	}
}
