package agentfaults_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

const large = 5 << 20

// A result of 5 MB is told to the model in part, and is whole in the user's workspace.
func TestATextOf5MB(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newWorld(t, cluster.Options{Database: database})
		u := w.join(t, "ana", click(1), modeltest.Say("fine"))
		text := strings.Repeat("five megabytes é\n", large/len("five megabytes é\n"))
		u.node.Serve(func(c cluster.ToolCall) string {
			u.ledger.See(c)
			return cluster.Text(text)
		})
		s := u.invoke(w.Gateways[1])
		u.ends(s, "stop")
		if told := u.told(); len(told) < 60<<10 || len(told) > 70<<10 || !strings.HasPrefix(told, text[:60<<10]) {
			t.Errorf("the model was told %d bytes: …%s", len(told), told[max(0, len(told)-300):])
		}
		path := ""
		for _, e := range s.Heard {
			if e.Type == "tool_call_result" {
				path = file(t, e)
			}
			if len(e.Data) > 100<<10 {
				t.Errorf("an event has %d bytes", len(e.Data))
			}
		}
		for i, g := range w.Gateways {
			if r := g.Get(t, "/api/workspace/files/"+(&url.URL{Path: path}).EscapedPath(), u.name); r.Status != 200 || r.Raw != text {
				t.Errorf("gateway %d has %d bytes in %s: %d", i, len(r.Raw), path, r.Status)
			}
		}
		u.ledger.Once(t, 1)
	})
}

func file(t *testing.T, e cluster.Event) string {
	t.Helper()
	var result struct {
		FilePath string `json:"file_path"`
	}
	if err := json.Unmarshal([]byte(e.Data), &result); err != nil || result.FilePath == "" {
		t.Errorf("it has no file: %.300s", e.Data)
	}
	return result.FilePath
}

// A picture of 5 MB is in the event, live and again, and never in what the model reads or the database keeps.
func TestAPictureOf5MB(t *testing.T) {
	t.Parallel()
	cluster.EachStorage(t, func(t *testing.T, database string) {
		w := newWorld(t, cluster.Options{Database: database})
		u := w.join(t, "ana", click(1), modeltest.Say("fine"))
		picture := make([]byte, large)
		_, _ = rand.Read(picture) // never fails
		encoded := base64.StdEncoding.EncodeToString(picture)
		u.node.Serve(func(c cluster.ToolCall) string {
			u.ledger.See(c)
			return `{"content":[{"type":"image","mimeType":"image/png","data":"` + encoded + `"}]}`
		})
		s := u.invoke(w.Gateways[1])
		u.ends(s, "stop") // and is as it is kept
		seen := 0
		for _, e := range s.Heard {
			if e.Type == "tool_call_result" {
				seen = strings.Count(e.Data, encoded)
			}
		}
		if seen != 1 {
			t.Errorf("the event has the picture %d times", seen)
		}
		if told := u.told(); len(told) > 1000 || !strings.Contains(told, "workspace file") {
			t.Errorf("the model was told %.1000s", told)
		}
		if body := u.asked()[1].Body; strings.Contains(string(body), encoded[:100]) {
			t.Error("the model was sent the picture as text")
		}
		u.ledger.Once(t, 1)
	})
}
