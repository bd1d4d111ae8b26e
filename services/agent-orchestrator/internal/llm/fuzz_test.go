package llm_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
)

// FuzzMerge looks for streams that break the reader, whose pieces do not add up to the answer, or that depend on how the
// network tears them.
func FuzzMerge(f *testing.F) {
	for _, s := range []string{
		text("a") + stop + done,
		event(`{"delta":{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{"}},{"index":1,"id":"y","function":{"name":"g"}}]}}`) +
			event(`{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{}"}},{"index":0,"function":{"arguments":"}"}}]}}`) + stop,
		event(`{"delta":{"tool_calls":[{"id":"x","function":{"arguments":{"a":1}}},{"function":{"name":"f"}}]}}`),
		`data: {"error":{"code":"invalid_api_key"}}`, `{"code":"InvalidParameter"}`, ": ping\n\ndata:\n\nevent: x\n\n", "data: [DONE]", "<html>\n",
		event(`{"delta":{"content":[{"type":"text","text":"a"}],"refusal":"b"}}`), "\ufeffdata: {}\r\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		var pieces strings.Builder
		args := map[int]string{}
		names := map[int]string{}
		a, err := llm.Merge(strings.NewReader(stream), func(d llm.Delta) error {
			if d.Call == nil {
				pieces.WriteString(d.Text)
				return nil
			}
			if d.Call.Name == "" {
				t.Error("a piece of a call without a name")
			}
			args[d.Call.Index] += d.Call.Args
			names[d.Call.Index] = d.Call.Name
			return nil
		})
		var failed *llm.Error
		switch {
		case err == nil && a.Finish == "":
			t.Error("an answer that nobody finished")
		case err != nil && (!errors.As(err, &failed) || failed.Code == "" || failed.Message == ""):
			t.Errorf("error %v says too little", err)
		}
		if pieces.String() != a.Text {
			t.Errorf("pieces %q, answer %q", pieces.String(), a.Text)
		}
		for i, c := range a.Calls {
			if c.Name != "" && (args[i] != c.Args || names[i] != c.Name) {
				t.Errorf("pieces %q %q, call %+v", names[i], args[i], c)
			}
		}
		torn, tornErr := llm.Merge(iotest.OneByteReader(strings.NewReader(stream)), func(llm.Delta) error { return nil })
		if torn.Text != a.Text || len(torn.Calls) != len(a.Calls) || (tornErr == nil) != (err == nil) {
			t.Errorf("torn apart it is %+v, %v; whole %+v, %v", torn, tornErr, a, err)
		}
	})
}
