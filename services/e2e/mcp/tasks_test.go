package mcp_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

// takesTasks are the capabilities of a client that takes tasks, and takesBoth of one that can ask its person, too.
const (
	takesTasks = `"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	takesBoth  = `"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
)

// soon has calls become tasks after a moment.
func soon(_ int, c *gateway.Config) { c.MCPTaskAfter = 50 * time.Millisecond }

// taskOf sends a request about a task.
func taskOf(t *testing.T, g *cluster.Gateway, method, id, more, capabilities string, headers ...string) answer {
	t.Helper()
	return newer(t, g, "", "tasks/"+method, `"taskId":"`+id+`"`+more, capabilities, append([]string{"Mcp-Name", id}, headers...)...)
}

// ends waits until a task is over, as a client does.
func ends(t *testing.T, g *cluster.Gateway, id, status string, within time.Duration) answer {
	t.Helper()
	var r answer
	testkit.Eventually(t, within, func() bool {
		r = taskOf(t, g, "get", id, "", takesTasks)
		return r.at("result", "status") == status
	}, "the task is not %s", status)
	return r
}

// began returns the task that a call has become.
func began(t *testing.T, r answer) string {
	t.Helper()
	id, _ := r.at("result", "taskId").(string)
	if r.at("result", "resultType") != "task" || id == "" || r.at("result", "status") != "working" || r.at("result", "pollIntervalMs") == nil ||
		r.at("result", "ttlMs") == nil || r.at("result", "createdAt") == nil || r.at("result", "result") != nil {
		t.Fatalf("no task: %s", r.Raw)
	}
	return id
}

func taskCluster(t *testing.T) (*cluster.Cluster, *cluster.Client) {
	t.Helper()
	c := cluster.Start(t, cluster.Options{Orchestrators: 2, Paired: true, Gateway: soon})
	node := c.Gateways[0].Extension(t, "ana", "n1")
	node.Register(chrome)
	return c, node
}

// A call that takes long becomes a task, whose answer is there at any pod, for who began it.
func TestALongCallIsATask(t *testing.T) {
	t.Parallel()
	c, node := taskCluster(t)
	a, b := c.Gateways[0], c.Gateways[1]
	if r := newer(t, a, "", "server/discover", "", ""); r.at("result", "capabilities", "extensions", "io.modelcontextprotocol/tasks") == nil {
		t.Error(r.Raw)
	}
	id := began(t, newer(t, a, "", "tools/call", clickCall(1), takesTasks))
	call := node.Call()
	for name, r := range map[string]answer{
		"another user":  taskOf(t, b, "get", id, "", takesTasks, "X-User-Id", "eve"),
		"no such task":  taskOf(t, b, "get", "task-x", "", takesTasks),
		"a bit flipped": taskOf(t, b, "cancel", id[:len(id)-1]+"~", "", takesTasks),
	} {
		if r.at("error", "code") != -32602.0 {
			t.Errorf("%s: %s", name, r.Raw)
		}
	}
	for _, method := range []string{"get", "update", "cancel"} {
		if r := taskOf(t, b, method, id, "", ""); r.at("error", "code") != -32021.0 ||
			r.at("error", "data", "requiredCapabilities", "extensions", "io.modelcontextprotocol/tasks") == nil {
			t.Errorf("%s by a client that takes no tasks: %s", method, r.Raw)
		}
	}
	body, h := newerRequest("subscriptions/listen", `"notifications":{"taskIds":["`+id+`","task-x"]}`, takesTasks)
	stream := follow(t, open(t, b, http.MethodPost, "", strings.Replace(body, `"io.modelcontextprotocol/clientCapabilities":{},`, "", 1), h))
	if m := stream.next(t); at(m, "params", "notifications", "taskIds", "0") != id || at(m, "params", "notifications", "taskIds", "1") != nil {
		t.Errorf("%v", m)
	}
	if m := stream.next(t); m["method"] != "notifications/tasks" || at(m, "params", "status") != "working" || at(m, "params", "taskId") != id {
		t.Errorf("%v", m)
	}
	if r := taskOf(t, b, "get", id, "", takesTasks); r.at("result", "status") != "working" || r.at("result", "resultType") != "complete" {
		t.Error(r.Raw)
	}
	node.Answer(call, cluster.Text("done"))
	for _, g := range c.Gateways {
		r := ends(t, g, id, "completed", 5*time.Second)
		if at(r.last(), "result", "result", "content", "0", "text") != "done" || r.at("result", "result", "resultType") != "complete" {
			t.Error(r.Raw)
		}
	}
	if m := stream.next(t); at(m, "params", "status") != "completed" || at(m, "params", "result", "content", "0", "text") != "done" {
		t.Errorf("%v", m)
	}
	// Who takes no tasks gets none, and who does gets the answer at once where it comes at once.
	node.Serve(func(cluster.ToolCall) string { return cluster.Text("quick") })
	for _, capabilities := range []string{"", takesTasks} {
		if r := newer(t, b, "", "tools/call", clickCall(2), capabilities); r.text() != "quick" {
			t.Error(r.Raw)
		}
	}
}

// A cancel that comes in at another pod reaches the device.
func TestATaskIsCancelledAtAnotherPod(t *testing.T) {
	t.Parallel()
	c, node := taskCluster(t)
	id := began(t, newer(t, c.Gateways[0], "", "tools/call", clickCall(1), takesTasks))
	call := node.Call()
	if r := taskOf(t, c.Gateways[1], "cancel", id, "", takesTasks); r.at("result", "resultType") != "complete" {
		t.Error(r.Raw)
	}
	if frame := node.Next(); !strings.Contains(frame, "notifications/cancelled") || !strings.Contains(frame, call.ID) {
		t.Error(frame)
	}
	ends(t, c.Gateways[1], id, "cancelled", 5*time.Second)
}

// A call that has to be approved waits as a task, where its client cannot ask.
func TestAnApprovalIsWaitedForAsATask(t *testing.T) {
	t.Parallel()
	c, ledger, _ := asking(t, everything)
	r := newer(t, c.Gateways[0], "", "tools/call", clickCall(1), takesTasks)
	id := began(t, r)
	w := waiting(t, c.Gateways[1])
	if message, _ := r.at("result", "statusMessage").(string); len(w) != 1 || !strings.Contains(message, at(w[0], "id").(string)) {
		t.Fatalf("%s %v", r.Raw, w)
	}
	ledger.Once(t)
	decide(t, c.Gateways[1], at(w[0], "id").(string), `{"decision":"approved"}`)
	if r := ends(t, c.Gateways[1], id, "completed", 5*time.Second); r.at("result", "result", "content", "0", "text") != "1" {
		t.Error(r.Raw)
	}
	ledger.Once(t, 1)
	id = began(t, newer(t, c.Gateways[1], "", "tools/call", clickCall(2), takesTasks))
	decide(t, c.Gateways[0], at(waiting(t, c.Gateways[0])[0], "id").(string), `{"decision":"rejected","reason":"no"}`)
	r = ends(t, c.Gateways[0], id, "completed", 5*time.Second)
	if r.at("result", "result", "_meta", "dev.hecaton/reason") != "APPROVAL_REFUSED" || r.at("result", "result", "isError") != true {
		t.Error(r.Raw)
	}
	ledger.Once(t, 1)
}

// A question in the middle of a task is answered at any pod, once.
func TestATaskAsksInTheMiddle(t *testing.T) {
	t.Parallel()
	model := modeltest.New(t)
	c := cluster.Start(t, cluster.Options{Orchestrators: 2, Paired: true, Model: model.URL(), Gateway: soon})
	model.Script(modeltest.Say("").Then(modeltest.Call("screenshot", `{"n":1}`)), modeltest.Say("").Then(modeltest.Call("click", `{"n":2}`)), modeltest.Say("Clicked."))
	ledger := &cluster.Ledger{}
	node := c.Gateways[0].Extension(t, "ana", "n1")
	node.Register(chrome)
	hold := make(chan struct{})
	node.Serve(func(call cluster.ToolCall) string {
		if call.Params.Name == "screenshot" {
			<-hold
		}
		return ledger.See(call)
	})
	id := began(t, newer(t, c.Gateways[0], withAgents, "tools/call", `"name":"run_agent","arguments":{"prompt":"Click."}`, takesBoth))
	close(hold)
	r := ends(t, c.Gateways[1], id, "input_required", 10*time.Second)
	requests, _ := r.at("result", "inputRequests").(map[string]any)
	if len(requests) != 1 {
		t.Fatal(r.Raw)
	}
	for key := range requests {
		for range 2 { // the second answer is ignored
			taskOf(t, c.Gateways[1], "update", id, `,"inputResponses":{"`+key+`":`+yes+`,"nobody's":`+yes+`}`, takesBoth)
		}
	}
	if r := ends(t, c.Gateways[1], id, "completed", 10*time.Second); r.at("result", "result", "content", "0", "text") != "Clicked." {
		t.Error(r.Raw)
	}
	ledger.Once(t, 1, 2)
}

// The pod that runs a task is killed: any other says that the outcome is unknown. An answer that was stored before is there.
func TestATaskOfADeadPodIsHonest(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1, GatewayProcesses: 1, Orchestrators: 1})
	kept, killed := c.Gateways[0], c.Gateways[1]
	node := kept.Extension(t, "ana", "n1")
	node.Register(chrome)
	id := began(t, newer(t, killed, "", "tools/call", clickCall(1), takesTasks))
	call := node.Call()
	done := began(t, newer(t, killed, "", "tools/call", clickCall(2), takesTasks))
	node.Answer(node.Call(), cluster.Text("two"))
	ends(t, kept, done, "completed", 5*time.Second)
	killed.Process.Kill()
	if r := taskOf(t, kept, "get", done, "", takesTasks); r.at("result", "result", "content", "0", "text") != "two" {
		t.Error(r.Raw)
	}
	r := ends(t, kept, id, "completed", 30*time.Second)
	if r.at("result", "result", "_meta", "dev.hecaton/outcome") != "unknown" || r.at("result", "result", "_meta", "dev.hecaton/reason") != "HOLDER_LOST" {
		t.Error(r.Raw)
	}
	_ = call
}

// A user has so many tasks and no more: further calls are answered as any. Others are not concerned.
func TestTasksAreBounded(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 1, Orchestrators: 1, Gateway: soon})
	g := c.Gateways[0]
	for _, user := range []string{"ana", "bob"} {
		node := g.Extension(t, user, "n1")
		node.Register(`"available_tools":["click"],"max_concurrent_tasks":100`)
		node.Serve(func(cluster.ToolCall) string {
			<-time.After(100 * time.Millisecond)
			return cluster.Text("slow")
		})
	}
	for range 32 {
		began(t, newer(t, g, "", "tools/call", clickCall(1), takesTasks))
	}
	if r := newer(t, g, "", "tools/call", clickCall(1), takesTasks); r.text() != "slow" {
		t.Error(r.Raw)
	}
	began(t, newer(t, g, "", "tools/call", clickCall(1), takesTasks, "X-User-Id", "bob"))
}

// A pod that drains waits for the calls of its tasks.
func TestADrainKeepsTasks(t *testing.T) {
	t.Parallel()
	c, node := taskCluster(t)
	id := began(t, newer(t, c.Gateways[1], "", "tools/call", clickCall(1), takesTasks))
	call := node.Call()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		c.Gateways[1].Stop(t)
	}()
	testkit.Eventually(t, 5*time.Second, func() bool {
		resp, err := http.Get("http://" + c.Gateways[1].Admin + "/readyz") //nolint:noctx // of a test
		if err != nil {
			return true
		}
		defer resp.Body.Close()
		return resp.StatusCode != http.StatusOK
	}, "it does not drain")
	node.Answer(call, cluster.Text("late"))
	<-stopped
	if r := ends(t, c.Gateways[0], id, "completed", 5*time.Second); r.at("result", "result", "content", "0", "text") != "late" {
		t.Error(r.Raw)
	}
}
