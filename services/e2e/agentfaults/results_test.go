package agentfaults_test

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

const large = 5 << 20

// A node answers with a text of 5 MB, and with a picture of 5 MB. The model gets the beginning of the text, and where the
// picture is; the client gets a part of the text and the whole picture, live as well as later. Both are files in the
// workspace.
func TestResultsOf5MB(t *testing.T) {
	t.Parallel()
	w := newFixture(t, cluster.Options{})
	u := w.join(t, "ana", each("click", 1, 2), modeltest.Say("fine"))
	text := strings.Repeat("five megabytes é\n", large/len("five megabytes é\n"))
	picture := make([]byte, large)
	_, _ = rand.Read(picture) // never fails
	copy(picture, "\x89PNG\r\n\x1a\n")
	encoded := base64.StdEncoding.EncodeToString(picture)
	u.node.Serve(func(c cluster.ToolCall) string {
		u.ledger.See(c)
		if cluster.Number(c) == 1 {
			return cluster.Text(text)
		}
		return `{"content":[{"type":"image","mimeType":"image/png","data":"` + encoded + `"}]}`
	})
	s := u.invoke(w.Gateways[1])
	first, second := s.Until("tool_call_result"), s.Until("tool_call_result")
	u.ends(s, "stop") // and it is as it is kept

	if len(first.Data) > 100<<10 || len(first.Result) < 60<<10 || !strings.HasPrefix(first.Result, text[:60<<10]) {
		t.Errorf("the client heard %d bytes of the text: %.300s", len(first.Data), first.Data)
	}
	if n := strings.Count(second.Data, encoded); n != 1 {
		t.Errorf("the client heard the picture %d times", n)
	}
	var told []string
	for _, m := range u.asked()[1].Messages {
		if m.Role == "tool" {
			told = append(told, m.Content)
		}
	}
	if len(told) != 2 || told[0] != first.Result || len(told[1]) > 1000 || !strings.Contains(told[1], "workspace file") {
		t.Errorf("the model was told %.300q", told)
	}
	for i, want := range map[int]string{0: text, 1: string(picture)} {
		path := file(t, []cluster.Event{first, second}[i])
		if r := w.Gateways[i].Get(t, "/api/workspace/files/"+path, u.name); r.Status != 200 || r.Raw != want {
			t.Errorf("%s has %d bytes: %d", path, len(r.Raw), r.Status)
		}
	}
	u.ledger.Once(t, 1, 2)
}

// file is where a result's text or picture is.
func file(t *testing.T, e cluster.Event) string {
	t.Helper()
	var result struct {
		FilePath string `json:"file_path"`
		Content  []struct {
			FilePath string `json:"file_path"`
		} `json:"content"`
	}
	if err := json.Unmarshal([]byte(e.Data), &result); err != nil {
		t.Fatal(err)
	}
	for _, a := range result.Content {
		return a.FilePath
	}
	if result.FilePath == "" {
		t.Errorf("it has no file: %.300s", e.Data)
	}
	return result.FilePath
}
