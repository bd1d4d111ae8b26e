package envelope_test

import (
	"testing"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
)

func TestAToolCallNamesItsTool(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"click", `a "quoted" one`, "漢"} {
		if got := envelope.Tool(envelope.ToolCall("1", tool, []byte(`{"name":"other"}`), "s")); got != tool {
			t.Errorf("%q arrives as %q", tool, got)
		}
	}
	for _, frame := range []string{``, `{`, `{}`, `{"params":{"name":1}}`} {
		if got := envelope.Tool([]byte(frame)); got != "" {
			t.Errorf("%s names %q", frame, got)
		}
	}
}

func TestOutcome(t *testing.T) {
	t.Parallel()
	const neither = `{"code":-32603,"message":"The node's answer has neither a result nor an error"}`
	for answer, want := range map[string][2]string{
		`{"id":"1","result":{"a":1}}`:               {`{"a":1}`, ""},
		`{"id":"1","result":null}`:                  {`null`, ""},
		`{"id":"1","result":{},"error":null}`:       {`{}`, ""},
		`{"id":"1","error":{"code":1}}`:             {"", `{"code":1}`},
		`{"id":"1","result":{},"error":{"code":1}}`: {"", `{"code":1}`},
		`{"id":"1"}`: {"", neither},
	} {
		if result, failure := envelope.Outcome([]byte(answer)); string(result) != want[0] || string(failure) != want[1] {
			t.Errorf("%s: %s, %s", answer, result, failure)
		}
	}
}
