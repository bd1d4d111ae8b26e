package observe_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/metadata"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	registry "github.com/hecaton-dev/hecaton/services/node-registry/app"
)

// What users own and say has this word in it, and no span has.
const theirs = "sentinel"

const (
	user   = "user-" + theirs
	nodeID = "node-" + theirs
)

// logs are the log lines of all pods.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// with returns the lines that contain all parts.
func (l *logs) with(parts ...string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
			found = append(found, line)
		}
	}
	return found
}

// traced is a cluster that tells a collector what it does. Its node is at the second gateway; its orchestrator knows the
// first only.
type traced struct {
	*cluster.Cluster
	*receiver
	logs *logs
	node *cluster.Client
}

func newTraced(t *testing.T, model string) *traced {
	t.Helper()
	w := &traced{receiver: newReceiver(t), logs: &logs{}}
	trace := obs.TraceConfig{Endpoint: w.URL, Ratio: 1}
	w.Cluster = cluster.Start(t, cluster.Options{
		Orchestrators: 1, Model: model, Logger: obs.NewLogger(w.logs, slog.LevelInfo, obs.JSON),
		Gateway:  func(_ int, c *gateway.Config) { c.Trace = trace },
		Registry: func(c *registry.Config) { c.Trace = trace },
		Orchestrator: func(_ int, c *orchestrator.Config) {
			c.Trace, c.Gateways = trace, c.Gateways[:1]
		},
	})
	w.node = w.Gateways[1].Extension(t, user, nodeID)
	w.node.Register(`"capabilities":["mcp_meta"],"available_tools":["look"]`)
	return w
}

// stop ends all pods, which sends the spans that are left.
func (w *traced) stop(t *testing.T) {
	t.Helper()
	w.Orchestrators[0].Stop(t)
	for _, g := range w.Gateways {
		g.Stop(t)
	}
	for _, r := range w.Registries {
		r.Stop(t)
	}
}

// answer takes one call at the node and returns the span that the node is told to be under.
func (w *traced) answer(t *testing.T) (trace, parent string) {
	t.Helper()
	call := w.node.Call()
	if !strings.Contains(string(call.Params.Arguments), theirs) {
		t.Fatalf("not the call: %s", call.Frame)
	}
	traceparent, _ := call.Params.Meta["traceparent"].(string)
	fields := strings.Split(traceparent, "-")
	if len(fields) != 4 {
		t.Fatalf("no traceparent: %s", call.Frame)
	}
	w.node.Answer(call, cluster.Text("result of the "+theirs))
	return fields[1], fields[2]
}

// discreet fails if a span tells what it should not.
func (w *traced) discreet(t *testing.T) {
	t.Helper()
	for _, s := range w.all() {
		if whole := s.Span.String(); strings.Contains(whole, theirs) {
			t.Errorf("a span tells what is its user's: %s", whole)
		}
	}
}

func (w *traced) expectPath(t *testing.T, leaf string, want ...string) {
	t.Helper()
	if got := w.path(leaf); !slices.Equal(got, want) {
		t.Errorf("the way to the node is\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// expectStores fails unless a trace has spans of these operations of stores, and no such span begins a trace.
func (w *traced) expectStores(t *testing.T, trace string, want ...string) {
	t.Helper()
	found := map[string]int{}
	for _, s := range w.all() {
		system := s.attribute("db.system.name")
		if system == "" {
			continue
		}
		if s.parent() == "" {
			t.Errorf("%s of %s begins a trace", s.GetName(), system)
		}
		if s.trace() == trace {
			found[system+" "+s.attribute("db.operation.name")]++
		}
	}
	t.Logf("operations of stores: %v", found)
	for _, operation := range want {
		if found[operation] == 0 {
			t.Errorf("no %s in the trace", operation)
		}
	}
}

// The way over two gateways is the same for all who call.
var acrossPods = []string{
	"gateway-0: call tool (internal)",
	"gateway-0: publish hecaton.node.{user}.{node}.call (producer)",
	"gateway-1: process hecaton.node.{user}.{node}.call (consumer)",
	"gateway-1: tools/call (client)",
}

func TestARunIsOneTraceFromTheRequestToTheNodesSocket(t *testing.T) {
	t.Parallel()
	model := modeltest.New(t)
	model.Script(modeltest.Call("look", object{"at": "argument " + theirs}), modeltest.Say("answer "+theirs))
	w := newTraced(t, model.URL())
	w.Gateways[0].RunEverything(t, user)
	s := w.Gateways[0].Stream(t, http.MethodPost, "/api/agent/invoke?token=token-"+theirs, object{
		"message": "prompt " + theirs, "session_id": "session-" + theirs, "llm_config": object{"apiKey": "key-" + theirs},
	}, http.Header{"X-User-Id": {user}, "Authorization": {"Bearer token-" + theirs}})
	trace, leaf := w.answer(t)
	s.Complete("stop")
	exemplar(t, w.Gateways[0].Admin, "hecaton_gateway_call_duration_seconds_bucket", trace)
	exemplar(t, w.Orchestrators[0].Admin, "hecaton_agent_tool_call_duration_seconds_bucket", trace)
	exemplar(t, w.Orchestrators[0].Admin, "hecaton_agent_model_request_duration_seconds_bucket", trace)
	w.stop(t)

	run := []string{
		"gateway-0: POST /api/agent/invoke (server)",
		"orchestrator-0: hecaton.agent.v1.AgentService/Invoke (server)",
		"orchestrator-0: invoke_agent (internal)",
		"orchestrator-0: agent step (internal)",
	}
	w.expectPath(t, leaf, slices.Concat(run, []string{
		"orchestrator-0: execute_tool look (internal)",
		"orchestrator-0: hecaton.tool.v1.ToolService/Calls (client)",
		"gateway-0: hecaton.tool.v1.ToolService/Calls (server)",
	}, acrossPods)...)
	chats := 0
	for _, s := range w.all() {
		if s.GetName() == "chat "+modeltest.Model {
			chats++
			w.expectPath(t, s.id(), append(slices.Clone(run), "orchestrator-0: chat "+modeltest.Model+" (client)")...)
			if s.attribute("gen_ai.usage.input_tokens") == "" || s.attribute("gen_ai.request.model") != modeltest.Model {
				t.Errorf("attributes of a question to the model: %v", s.Attributes)
			}
		}
		if root := s.parent() == "" && s.trace() == trace; root != (s.GetName() == "POST /api/agent/invoke") {
			t.Errorf("%s begins the trace: %t", s.GetName(), root)
		}
	}
	w.expectStores(t, trace, "sqlite read", "sqlite write", "sqlite commit", "redis pipeline")
	if chats != 2 {
		t.Errorf("%d questions to the model in the trace, want 2", chats)
	}
	w.discreet(t)
	if lines := w.logs.with(`"run ended"`, fmt.Sprintf("%q:%q", "trace_id", trace), `"finish_reason":"stop"`); len(lines) != 1 {
		t.Errorf("%d log lines tell the run's end and its trace", len(lines))
	}
}

// A caller's own trace goes on, over REST and gRPC.
func TestACallOfATracedCallerGoesOnInItsTrace(t *testing.T) {
	t.Parallel()
	w := newTraced(t, "")
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	done := make(chan cluster.Response, 1)
	go func() {
		done <- w.Gateways[0].Do(t, http.MethodPost, "/api/node/browser/tool?token=token-"+theirs, user,
			`{"tool_name":"look","node_id":"`+nodeID+`","tool_args":{"at":"`+theirs+`"}}`,
			http.Header{"Traceparent": {"00-" + trace + "-00f067aa0ba902b7-01"}})
	}()
	got, leaf := w.answer(t)
	if r := <-done; r.Status != http.StatusOK {
		t.Fatal(r)
	}
	if got != trace {
		t.Errorf("the node hears of trace %s", got)
	}
	// A call that fails says why, and no more.
	w.Gateways[0].Post(t, "/api/node/browser/tool", user, `{"tool_name":"look","node_id":"other-`+theirs+`"}`)
	w.stop(t)
	w.expectPath(t, leaf, append([]string{"gateway-0: POST /api/node/browser/tool (server)"}, acrossPods...)...)
	w.discreet(t)
	failed := 0
	for _, s := range w.all() {
		if s.GetName() == "call tool" && s.attribute("error.type") == "NODE_NOT_CONNECTED" {
			failed++
		}
	}
	if failed != 1 {
		t.Errorf("%d calls failed as they did", failed)
	}
}

// A workflow is in the trace of who asked for it, to the extension's socket.
func TestAWorkflowGoesOnInTheTraceOfItsCaller(t *testing.T) {
	t.Parallel()
	w := newTraced(t, "")
	const trace = "4bf92f3577b34da6a3ce929d0e0e4737"
	ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
	done := make(chan error, 1)
	go func() {
		_, err := w.Gateways[0].Tools.ExecuteWorkflow(ctx, &toolv1.ExecuteWorkflowRequest{UserId: user, WorkflowId: "wf-" + theirs})
		done <- err
	}()
	w.node.Expect(`{"type":"execute_workflow","workflow_id":"wf-` + theirs + `","variables":{}}`)
	w.node.Send(`{"type":"task_complete","task_id":1,"success":true,"result":{"of":"` + theirs + `"},"output":null}`)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	w.stop(t)
	leaf := ""
	for _, s := range w.all() {
		if s.trace() == trace && s.GetName() == "execute_workflow" {
			leaf = s.id()
		}
	}
	w.expectPath(t, leaf,
		"gateway-0: hecaton.tool.v1.ToolService/ExecuteWorkflow (server)",
		"gateway-0: execute workflow (internal)",
		"gateway-0: publish hecaton.node.{user}.{node}.call (producer)",
		"gateway-1: process hecaton.node.{user}.{node}.call (consumer)",
		"gateway-1: execute_workflow (client)",
	)
	w.discreet(t)
}
