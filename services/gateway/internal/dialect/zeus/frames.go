package zeus

import (
	"errors"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// The frames that never change; shared, since a queued frame is not written to.
var (
	framePing         = []byte(`{"type":"ping"}`)
	framePong         = []byte(`{"type":"pong"}`)
	frameHeartbeatAck = []byte(`{"type":"heartbeat_ack"}`)
	// docs/protocols/zeus-nodes.md#workflows
	frameNoExtensionList = []byte(`{"type":"workflows_list","success":false,"error":"Extension not connected"}`)
)

func registered(nodeID string) []byte {
	b := jsonrpc.AppendString([]byte(`{"type":"registered","node_id":`), nodeID)
	return append(b, `,"success":true}`...)
}

func notRegistered(problem string) []byte {
	b := jsonrpc.AppendString([]byte(`{"type":"registered","success":false,"error":`), problem)
	return append(b, '}')
}

func errorFrame(problem string) []byte {
	return append(jsonrpc.AppendString([]byte(`{"type":"error","error":`), problem), '}')
}

func workflowsListFailed(problem string) []byte {
	b := jsonrpc.AppendString([]byte(`{"type":"workflows_list","success":false,"error":`), problem)
	return append(b, '}')
}

func workflowStarted(workflowID string) []byte {
	b := jsonrpc.AppendString([]byte(`{"type":"workflow_started","workflow_id":`), workflowID)
	return append(b, '}')
}

// malformed returns the answer to what is no frame.
func malformed(err error) []byte {
	if errors.Is(err, jsonrpc.ErrNotObject) {
		return jsonrpc.ErrorFrame(nil, jsonrpc.CodeInvalidRequest, "Invalid Request: "+err.Error())
	}
	return jsonrpc.ErrorFrame(nil, jsonrpc.CodeParseError, "Parse error: "+err.Error())
}

// workflowComplete turns a task_complete frame, which was skimmed, into what web clients get
// (docs/protocols/zeus-nodes.md#workflows).
func workflowComplete(taskComplete []byte) []byte {
	m := jsonrpc.RawMembers(taskComplete, "task_id", "result", "output", "error")
	failed := !jsonrpc.IsNull(m["error"])
	b := append([]byte(`{"type":"workflow_complete","task_id":`), orNull(m["task_id"])...)
	if failed {
		b = append(b, `,"success":false`...)
	} else {
		b = append(b, `,"success":true`...)
	}
	for _, name := range []string{"result", "output"} {
		if failed && m[name] == nil {
			continue
		}
		b = append(append(append(append(b, `,"`...), name...), `":`...), orNull(m[name])...)
	}
	if failed {
		b = append(append(b, `,"error":`...), m["error"]...)
	}
	return append(b, '}')
}

func orNull(raw []byte) []byte {
	if raw == nil {
		return []byte("null")
	}
	return raw
}

// legacyAnswer turns an mcp_response into the JSON-RPC answer it stands for (docs/protocols/zeus-nodes.md#legacy-answers).
func legacyAnswer(f jsonrpc.Frame) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), orNull(f.RequestID)...)
	switch {
	case jsonrpc.IsNull(f.Error):
		b = append(append(b, `,"result":`...), orNull(f.Result)...)
	case jsonrpc.IsObject(f.Error):
		b = append(append(b, `,"error":`...), f.Error...)
	default:
		message := string(jsonrpc.Text(f.Error))
		if message == "" {
			message = string(f.Error)
		}
		b = append(b, `,"error":{"code":-32603,"message":`...)
		b = append(jsonrpc.AppendString(b, message), '}')
	}
	return append(b, '}')
}
