package cli

import (
	"encoding/json"
	"testing"

	"github.com/hecaton-dev/hecaton/services/hecaton/internal/chat"
)

// The demo approves by itself what it is there to show, and nothing that a model was talked into.
func TestTheDemoApprovesOneCall(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]bool{
		`{"path":"hello.txt"}`: true, `{"path":"./hello.txt"}`: true, `{"path":"../hello.txt"}`: false, `{"path":".env"}`: false, `{}`: false, ``: false,
	} {
		if got := expected(chat.Pending{Tool: "read_file", Node: demoNode, Args: json.RawMessage(args)}); got != want {
			t.Errorf("%s: %t", args, got)
		}
	}
	for _, p := range []chat.Pending{{Tool: "write_file", Node: demoNode}, {Tool: "read_file", Node: "another"}} {
		p.Args = json.RawMessage(`{"path":"hello.txt"}`)
		if expected(p) {
			t.Errorf("%+v is approved", p)
		}
	}
}
