package zeus

import (
	"bytes"
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// capabilityMeta is the capability of nodes that want `params._meta` in calls.
const capabilityMeta = "mcp_meta"

// Call implements [codec.Codec]: the node reads what is on the bus.
func (s *nodeSession) Call(c codec.Call) (codec.Wire, *errs.Error) {
	if c.Kind == codec.Relayed {
		return codec.Wire{Frame: c.Frame, Name: jsonrpc.StringMember(c.Frame, "workflow_id"), Operation: "execute_workflow"}, nil
	}
	if slices.Contains(c.Node.GetCapabilities(), capabilityMeta) {
		return codec.Wire{Frame: withMeta(c)}, nil
	}
	return codec.Wire{Frame: c.Frame}, nil
}

// withMeta adds params._meta to a tools/call frame, which ends with the closing brackets of params and of itself.
func withMeta(c codec.Call) []byte {
	body, ok := bytes.CutSuffix(c.Frame, []byte("}}"))
	if !ok {
		return c.Frame
	}
	meta := jsonrpc.Meta{ProgressToken: string(c.ID), Traceparent: c.Traceparent}
	return append(append(bytes.Clone(body), ','), append(meta.Append(nil), "}}"...)...)
}

// Cancel implements [codec.Codec].
func (s *nodeSession) Cancel(id ids.CallID, reason string) []byte {
	return jsonrpc.Cancelled(string(id), reason)
}

// Forward implements [codec.Codec]. The answer to a web client's question does not say whose it is.
func (s *nodeSession) Forward(frame []byte, asker string, send func([]byte) error) error {
	if asker == "" {
		return send(frame)
	}
	return s.askers.ask(asker, func() error { return send(frame) })
}

// Ping implements [codec.Reader].
func (s *nodeSession) Ping(time.Time) []byte { return framePing }

// Read implements [codec.Reader].
func (s *nodeSession) Read(b *frame.Buffer) codec.Message {
	f, err := jsonrpc.Skim(b.Bytes())
	switch {
	case err != nil:
		return codec.Message{Means: codec.Malformed, Reply: malformed(err)}
	case f.JSONRPC != nil || f.Type == nil:
		return readRPC(f, b)
	default:
		return s.readMessage(f, b)
	}
}

// readRPC reads a JSON-RPC frame: an answer, nearly always.
func readRPC(f jsonrpc.Frame, b *frame.Buffer) codec.Message {
	if f.Method == nil && f.ID != nil {
		return codec.Message{Means: codec.Answer, Call: ids.CallID(jsonrpc.Text(f.ID)), Answer: b}
	}
	switch method := string(jsonrpc.Text(f.Method)); {
	case method == "notifications/progress":
		token := jsonrpc.StringMember(f.Params, "progressToken")
		return codec.Message{Means: codec.Progress, Call: ids.CallID(token), Params: f.Params}
	case method != "" && f.ID != nil:
		reply := jsonrpc.ErrorFrame(f.ID, jsonrpc.CodeMethodNotFound, "Method not found: nodes answer calls, they make none")
		return codec.Message{Means: codec.Unknown, Reply: reply}
	}
	return codec.Message{Means: codec.Unknown}
}

// readMessage reads a frame of the protocol's own types.
func (s *nodeSession) readMessage(f jsonrpc.Frame, b *frame.Buffer) codec.Message {
	switch string(jsonrpc.Text(f.Type)) {
	case "mcp_response":
		return codec.Message{Means: codec.Answer, Call: ids.CallID(jsonrpc.Text(f.RequestID)), Answer: frame.Wrap(legacyAnswer(f))}
	case taskComplete:
		return codec.Message{Means: codec.Other, Type: taskComplete}
	case workflowsList:
		return codec.Message{Means: codec.Other, Type: workflowsList}
	case token:
		return codec.Message{Means: codec.Other, Type: token}
	case "heartbeat":
		return s.readStatus(b.Bytes(), true)
	case "status":
		return s.readStatus(b.Bytes(), false)
	case "ping":
		return codec.Message{Means: codec.Alive, Reply: framePong}
	case "pong":
		return codec.Message{Means: codec.Alive}
	case "register":
		return s.readRegister(b.Bytes())
	}
	return codec.Message{Means: codec.Unknown}
}

// The types of messages that a session handles itself.
const (
	taskComplete    = "task_complete"
	workflowsList   = "workflows_list"
	token           = "token"
	getWorkflows    = "get_workflows"
	executeWorkflow = "execute_workflow"
)
