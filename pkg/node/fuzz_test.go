package node

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"
	"unicode/utf8"
)

var frameSeeds = []string{
	`{"type":"ping"}`, `{"type":"registered","node_id":"a","success":true}`, `{"type":"registered","success":"x"}`, `[]`, `{`, ``, `null`, `{"type":7}`,
	`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"echo","arguments":{"x":1},"session_id":"s","_meta":{"progressToken":3}}}`,
	`{"jsonrpc":"2.0","id":1.5e3,"method":"tools/call","params":{"name":"echo"}}`, `{"jsonrpc":"2.0","id":"a","result":{}}`,
	`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a","reason":"r"}}`, `{"jsonrpc":"2.0","id":"\ud800","method":"tools/call","params":{"name":"\ud800","arguments":{}}}`,
	`{"jsonrpc":"2.0","id":{},"method":"x"}`, `{"jsonrpc":2,"id":"a","method":"tools/call"}`, `{"jsonrpc":"2.0","jsonrpc":"1.0","id":"a","method":"tools/call"}`,
}

// FuzzParse holds parse to what the rest of the package builds on: calls have an id that can be echoed, a tool and an
// object of arguments; errors have an id that can be echoed or none.
func FuzzParse(f *testing.F) {
	for _, seed := range frameSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		switch frame := parse(data).(type) {
		case callFrame:
			var object map[string]json.RawMessage
			if !json.Valid([]byte(frame.id)) || frame.call.Tool == "" || json.Unmarshal(frame.call.Arguments, &object) != nil || object == nil {
				t.Fatalf("%q: %+v", data, frame)
			}
			if frame.progressToken != nil && !json.Valid(frame.progressToken) {
				t.Fatalf("%q: token %q", data, frame.progressToken)
			}
		case badFrame:
			if frame.id != nil && !json.Valid(frame.id) || frame.message == "" || frame.code >= 0 {
				t.Fatalf("%q: %+v", data, frame)
			}
		case cancelFrame:
			if !json.Valid([]byte(frame.id)) {
				t.Fatalf("%q: %+v", data, frame)
			}
		case pingFrame, registeredFrame, ignoredFrame:
		default:
			t.Fatalf("%q: %T", data, frame)
		}
	})
}

// FuzzConnection sends arbitrary frames to a connected node. Whatever they are, each answer is one valid JSON-RPC frame
// and the node is still there afterwards.
func FuzzConnection(f *testing.F) {
	for _, seed := range frameSeeds {
		f.Add(seed)
	}
	g := newGateway(f)
	o := options(g)
	o.Logger = slog.New(slog.DiscardHandler)
	still := quick()
	still.heartbeat, still.answer = 24*time.Hour, 24*time.Hour
	start(f, o, still, map[string]Handler{"echo": func(_ context.Context, c Call) (Result, error) {
		return Text(string(c.Arguments)), nil
	}})
	p := g.register()
	f.Fuzz(func(t *testing.T, frame string) {
		// A second registered with success false ends the node by design; invalid UTF-8 is no text frame.
		if r, isRegistered := parse([]byte(frame)).(registeredFrame); isRegistered && !r.Success || !utf8.ValidString(frame) {
			return
		}
		p.t = t
		p.write(frame)
		p.write(`{"type":"ping"}`)
		for {
			var answer struct {
				Type    string `json:"type"`
				JSONRPC string `json:"jsonrpc"`
			}
			got := p.read()
			if err := json.Unmarshal([]byte(got), &answer); err != nil || answer.JSONRPC != "2.0" && answer.Type != "pong" {
				t.Fatalf("%q was answered %q (%v)", frame, got, err)
			}
			if answer.Type == "pong" {
				return
			}
		}
	})
}
