package node

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"sync"
)

// Handler executes one call of a tool. It must return soon after its context ends; [context.Cause] says why it did.
//
// A [Result] with IsError, as from [Errorf], tells the agent that the tool failed. An error is answered as JSON-RPC
// -32603 "Tool execution failed: …", an [InvalidParams] error as -32602.
type Handler func(ctx context.Context, call Call) (Result, error)

// Call is one call of a tool.
type Call struct {
	// ID is chosen by the gateway and unlike that of any other call.
	ID string
	// Tool is the name that was called.
	Tool string
	// Arguments is a JSON object.
	Arguments json.RawMessage
	// SessionID names the agent's conversation, empty where there is none.
	SessionID string
	// Meta is params._meta as it came, with the W3C `traceparent` where the caller is traced; nil where it was not sent.
	Meta json.RawMessage

	progress *progress
}

// Bind decodes the arguments into the struct that v points to. Members that v does not name are ignored. The error is
// a *[ParamsError] which names the member and the type it must have.
func (c Call) Bind(v any) error {
	err := json.Unmarshal(c.Arguments, v)
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) && mismatch.Field != "" {
		return InvalidParams("arguments.%s must be %s, not %s", mismatch.Field, jsonType(mismatch.Type), mismatch.Value)
	}
	if err != nil {
		return InvalidParams("arguments cannot be read: %v", err)
	}
	return nil
}

// jsonType names what JSON calls the values that fit into t.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "a boolean"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Pointer:
		return jsonType(t.Elem())
	}
	return "an integer in range"
}

// Progress tells the caller how far the call is, where it asked to be told; otherwise, and after the handler has
// returned, it does nothing. total 0 means unknown. It is lost with the connection.
func (c Call) Progress(done, total float64, message string) {
	if c.progress != nil {
		c.progress.report(done, total, message)
	}
}

// progress sends notifications/progress until the call is answered.
type progress struct {
	// Static after construction.
	token json.RawMessage
	send  func(frame []byte) error

	mu sync.Mutex
	// over is guarded by mu, which is held while sending, so that no progress follows the answer.
	over bool
}

func (p *progress) report(done, total float64, message string) {
	type params struct {
		Token    json.RawMessage `json:"progressToken"`
		Progress float64         `json:"progress"`
		Total    float64         `json:"total,omitempty"`
		Message  string          `json:"message,omitempty"`
	}
	frame, err := encode(struct {
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  params `json:"params"`
	}{"2.0", "notifications/progress", params{p.token, done, total, message}})
	if err != nil || len(frame) > MaxFrameBytes {
		return // infinities have no JSON; a message that long is no progress
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		_ = p.send(frame) // a lost connection is noticed by its reader
	}
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}
