package wire_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func TestAccepts(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"application/json, text/event-stream":          true,
		"text/event-stream;q=0.5,application/json;a=b": true,
		"*/*":                                     true,
		"application/*, text/*":                   true,
		"APPLICATION/JSON, Text/Event-Stream":     true,
		"application/json":                        false,
		"text/event-stream":                       false,
		"application/json, text/event-stream;q=0": false,
		"application/jsonx, text/event-stream":    false,
		"":                                        false,
		",;":                                      false,
	} {
		if got := wire.Accepts(http.Header{"Accept": {accept}}, "application/json", "text/event-stream"); got != want {
			t.Errorf("%q: %v", accept, got)
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for version, stateless := range map[string]bool{"": false, "2025-11-25": false, "2026-07-28": true, "2099-01-01": true} {
		if wire.IsStateless(version) != stateless {
			t.Error(version)
		}
	}
}

// FuzzRead: what a client sends is a message or an error, whatever it is, and no error is longer than it needs to be.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[{"jsonrpc":"2.0","id":"a","result":{}}]`, `{"jsonrpc":"2.0","id":null,"method":"x"}`,
		`{"jsonrpc":"2.0","method":"x","params":{"_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, `[]`, `1`, ``,
		`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 1000) + `"}`, ` {"id":{},"id":2,"jsonrpc":"2.0","method":"m","params":[]}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		body, id, bad := wire.Read([]byte(s))
		if bad != nil {
			if bad.Status != http.StatusBadRequest || len(bad.Append(nil, id)) > 1024+len(id) {
				t.Errorf("%q: %d %s", s, bad.Status, bad.Append(nil, id))
			}
			return
		}
		if len(body.Messages) == 0 || len(body.Messages) > wire.MaxBatch {
			t.Fatalf("%q: %d messages", s, len(body.Messages))
		}
		for i := range body.Messages {
			m := &body.Messages[i]
			if m.IsResponse() == (m.Method != "") || !m.IsNotification() && m.ID == nil {
				t.Errorf("%q: %+v", s, m)
			}
			_ = wire.CheckStateless(http.Header{wire.HeaderVersion: {wire.Stateless}, wire.HeaderMethod: {s}, wire.HeaderName: {s}}, m)
		}
	})
}
