package zeus

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolname"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// samples are the messages of the protocol, and some that are close to them.
var samples = []string{
	`{"type":"register","node_id":"node_abc123","node_name":"Chrome Extension","node_type":"extension","os":"macOS","os_version":"14.0","app_version":"1.2.0",` +
		`"capabilities":["browser_control","screenshot"],"available_tools":["click","type","screenshot","navigate"],"max_concurrent_tasks":3}`,
	`{"type":"register","available_tools":["a"],"tools":[{"name":"b","inputSchema":{"type":"object","properties":{"x":{"x-mcp-header":1}}}},{"name":"c\u202e"},7]}`,
	`{"type":"register","tools":{}}`, `{"type":"register"}`, `{"type":"register","node_type":"desktop","max_concurrent_tasks":0}`, `{"type":"register","node_id":"\u0000","capabilities":[1]}`,
	`{"type":"register","node_id":"\ud800","node_name":null,"available_tools":["",null]}`,
	`{"type":"heartbeat","status":"online","current_tasks":0}`, `{"type":"heartbeat"}`, `{"type":"heartbeat","status":7,"current_tasks":-1}`,
	`{"type":"status","status":"busy"}`, `{"type":"status","status":"idle"}`,
	`{"type":"mcp_response","request_id":"req_001","result":{"screenshot":"base64..."},"error":null}`, `{"type":"mcp_response","request_id":1,"error":"no \" such"}`,
	`{"type":"mcp_response"}`, `{"type":"mcp_response","error":{"code":1}}`, `{"type":"mcp_response","error":[1]}`,
	`{"type":"task_complete","task_id":"task_456","result":{"data":"..."},"output":"Workflow completed"}`, `{"type":"task_complete","error":"x","task_id":1}`, `{"type":"task_complete"}`,
	`{"type":"execute_workflow","workflow_id":"wf_abc123","variables":{"url":"https://example.com","query":"search term"}}`, `{"type":"execute_workflow","workflow_id":1}`,
	`{"type":"execute_workflow","workflow_id":"\u2028<\"","variables":[]}`, `{"type":"ping"}`, `{}`, `[]`, `{`, ``, `null`, "{\"a\":\"\xff\"}", `{"type":"register","type":1}`,
}

// members returns the members of a frame that we write, which must be an object.
func members(t *testing.T, frame []byte) map[string]json.RawMessage {
	t.Helper()
	if _, err := jsonrpc.Skim(frame); err != nil {
		t.Fatalf("we wrote %q: %v", frame, err)
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(frame, &m); err != nil {
		t.Fatalf("we wrote %q: %v", frame, err)
	}
	return m
}

func text(t *testing.T, raw json.RawMessage) (s string) {
	t.Helper()
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return s
}

// FuzzFrames: whatever a client sends, what we make of it is within bounds, and what we write is JSON with our keys.
func FuzzFrames(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		skimmed, err := jsonrpc.Skim(frame)
		if err != nil {
			if m := members(t, malformed(err)); string(m["id"]) != "null" || len(m) != 3 {
				t.Fatalf("%q", malformed(err))
			}
			return
		}
		fuzzRegister(t, frame)
		fuzzStatus(t, frame)
		fuzzWorkflow(t, frame)
		fuzzLegacy(t, skimmed)
	})
}

func fuzzRegister(t *testing.T, frame []byte) {
	for _, k := range []*kind{extension, desktop} {
		said, err := parseRegister(frame, k, "current")
		if err != nil {
			if m := members(t, notRegistered(err.Error())); string(m["success"]) != "false" || text(t, m["error"]) == "" || len(m) != 3 {
				t.Fatalf("%q", notRegistered(err.Error()))
			}
			continue
		}
		info := said.Info
		if said.Tools.IsZero() != (info.GetToolsDigest() == "") || (said.Remark != nil) != (said.Refused > 0) {
			t.Fatalf("%q became %v", frame, said)
		}
		if said.Remark != nil {
			members(t, said.Remark)
		}
		if ids.Check("node_id", info.GetNodeId()) != nil || info.GetNodeType() != k.typ || info.GetNodeName() == "" || info.GetMaxConcurrentTasks() < 1 || proto.Size(info) > maxInfo || toolname.CheckAll(info.GetAvailableTools()) != nil {
			t.Fatalf("%q became %v", frame, info)
		}
		if _, err := proto.Marshal(info); err != nil {
			t.Fatalf("%q became %v: %v", frame, info, err)
		}
		if m := members(t, registered(info.GetNodeId())); text(t, m["node_id"]) != info.GetNodeId() || string(m["success"]) != "true" || len(m) != 3 {
			t.Fatalf("%q", registered(info.GetNodeId()))
		}
	}
}

func fuzzStatus(t *testing.T, frame []byte) {
	const before, tasks = nodev1.NodeStatus_NODE_STATUS_BUSY, 7
	status, current, err := parseStatus(frame, before, tasks)
	known := status == before || status == nodev1.NodeStatus_NODE_STATUS_ONLINE || status == nodev1.NodeStatus_NODE_STATUS_OFFLINE
	if !known || current < 0 {
		t.Fatalf("%q: %v, %d tasks", frame, status, current)
	}
	if err != nil {
		if m := members(t, errorFrame(err.Error())); text(t, m["error"]) == "" || len(m) != 2 {
			t.Fatalf("%q", errorFrame(err.Error()))
		}
	}
}

func fuzzWorkflow(t *testing.T, frame []byte) {
	id, err := parseExecute(frame)
	if (id == "") != (err != nil) {
		t.Fatalf("%q: %q, %v", frame, id, err)
	}
	if err == nil {
		if m := members(t, workflowStarted(id)); text(t, m["workflow_id"]) != id || len(m) != 2 {
			t.Fatalf("%q", workflowStarted(id))
		}
	}
	sent, complete := members(t, frame), members(t, workflowComplete(frame))
	failed := sent["error"] != nil && string(sent["error"]) != "null"
	keys := []string{"type", "task_id", "success", "result", "output", "error"}
	for key, value := range complete {
		if !slices.Contains(keys, key) || (key == "error") && !failed {
			t.Fatalf("%q has the key %q", workflowComplete(frame), key)
		}
		if key != "type" && key != "success" && string(value) != string(sent[key]) && (sent[key] != nil || string(value) != "null") {
			t.Fatalf("%q became %q", frame, workflowComplete(frame))
		}
	}
	if text(t, complete["type"]) != "workflow_complete" || (string(complete["success"]) == "false") != failed {
		t.Fatalf("%q became %q", frame, workflowComplete(frame))
	}
}

func fuzzLegacy(t *testing.T, f jsonrpc.Frame) {
	answer := members(t, legacyAnswer(f))
	if len(answer) != 3 || (answer["result"] == nil) == (answer["error"] == nil) {
		t.Fatalf("%q became %q", f.Raw, legacyAnswer(f))
	}
	if answer["error"] != nil && !jsonrpc.IsObject(answer["error"]) {
		t.Fatalf("%q became %q", f.Raw, legacyAnswer(f))
	}
}

// FuzzErrors: what we say of an error is JSON, whatever the error says.
func FuzzErrors(f *testing.F) {
	for _, s := range []string{"", "a", `"\`, "\x00\xff\u2028", "<script>", strings.Repeat("x", 1000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, frame := range [][]byte{errorFrame(s), notRegistered(s), registered(s), workflowsListFailed(s), workflowStarted(s), malformed(errors.New(s))} {
			members(t, frame)
		}
	})
}
