package agentfaults_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// buffer is written by several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// What people, models and tools say is in no log, at any level, and in no metric of any pod, on good days and on bad ones.
// Keys and tokens are not in the database either.
func TestNothingThatIsSaidReachesLogsOrMetrics(t *testing.T) {
	t.Parallel()
	logs := &buffer{}
	dir := t.TempDir()
	w := newFixture(t, cluster.Options{
		Database: "sqlite://" + filepath.Join(dir, "agents.db"), Logger: obs.NewLogger(logs, slog.LevelDebug, "json"),
	})
	// Each is a word that stands for what was said where; keys are those that nobody may read at rest either.
	const prompt, argument, result, said, order, history, key, token, header = "zqprompt", "zqargument", "zqresult", "zqsaid", "zqorder",
		"zqhistory", "zqmodelkey", "zqmcptoken", "zqmcpheader"
	spoken := []string{prompt, argument, result, said, order, history, "zqfailure", "zqname", "zqfile", key, token, header, "zqsaved"}

	args := `{"n":1,"text":"` + argument + `"}`
	u := w.join(t, "ana")
	u.node.Serve(func(c cluster.ToolCall) string {
		if u.ledger.See(c); strings.Contains(string(c.Params.Arguments), "cut") {
			return `{"content":[{"type":"text","text":"` + result + `"}],"isError":true}`
		}
		return cluster.Text(result + strings.Repeat(" "+result, 20000)) // enough for a file
	})
	mine := func(r modeltest.Request) bool { return r.Key() == key }
	w.model.When(mine,
		modeltest.Status(500, nil, `{"error":{"message":"zqfailure"}}`),
		modeltest.Say(said).Cut(1),
		modeltest.Say(said).Then(modeltest.Calls(
			modeltest.ToolCall{Name: "pay", Args: args}, modeltest.ToolCall{Name: "click", Args: `{"text":"` + argument},
			modeltest.ToolCall{Name: "zqname", Args: args}, modeltest.ToolCall{Name: "click", Args: `{"n":2,"cut":"` + argument + `"}`},
			modeltest.ToolCall{Name: "workspace_write", Args: `{"path":"zqfile.txt","content":"` + said + `"}`},
			modeltest.ToolCall{Name: "write_todos", Args: `{"todos":[{"content":"` + said + `","status":"pending"}]}`},
		)),
		modeltest.Status(400, nil, `{"error":{"message":"zqfailure `+key+`"}}`),
	)
	more := map[string]any{
		"message": prompt, "llm_config": map[string]any{"baseUrl": w.model.URL(), "apiKey": key},
		"chat_history": []any{map[string]any{"role": "user", "content": history}},
		"tools": []any{map[string]any{
			"type": "mcp", "name": "zqname", "base_url": "http://127.0.0.1:1/zqfile", "api_key": token, "headers": map[string]any{"X-Key": header},
		}},
	}
	s := w.Gateways[1].Invoke(t, u.name, u.body(more))
	calls := u.interrupted(s)
	w.Gateways[0].Post(t, "/api/agent/resume", u.name, `{"session_id":"`+s.Session+`","human_order":"`+order+`","tool_call_results":[{"tool_call_id":"zqname"}]}`)
	w.Gateways[0].Post(t, "/api/agent/invoke", u.name, `{"message":"`+prompt+`","mode":"`+said+`"}`)
	if r := w.Gateways[0].Post(t, "/api/tools", u.name, `{"type":"mcp","name":"saved","base_url":"http://127.0.0.1:1/","api_key":"zqsaved"}`); r.Status != 200 {
		t.Error(r.Raw)
	}
	yes := u.decision(s.Session, "approved", calls)
	delete(yes, "llm_config")
	yes["human_order"] = order
	again := w.Gateways[0].Resume(t, u.name, yes)
	again.Complete("error")
	if got := again.Raw(); !strings.Contains(got, result) {
		t.Errorf("the client heard nothing: %s", got)
	}

	for _, word := range spoken {
		for line := range strings.Lines(logs.String()) {
			if strings.Contains(line, word) {
				t.Errorf("a log has %s: %.500s", word, line)
				break
			}
		}
		for _, admin := range []string{w.Gateways[0].Admin, w.Gateways[1].Admin, w.Orchestrators[0].Admin, w.Orchestrators[1].Admin} {
			if strings.Contains(page(t, "http://"+admin+"/metrics"), word) {
				t.Errorf("metrics have %s", word)
			}
		}
	}
	if !strings.Contains(logs.String(), `"DEBUG"`) {
		t.Error("nothing was logged for debugging")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	kept := ""
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kept += string(raw)
	}
	if !strings.Contains(kept, prompt) {
		t.Error("the database is not where it should be")
	}
	for _, secret := range []string{key, token, header, "zqsaved"} {
		for how, form := range map[string]string{
			"in clear": secret, "in base64": base64.StdEncoding.EncodeToString([]byte(secret))[:8], "in hex": hex.EncodeToString([]byte(secret)),
		} {
			if strings.Contains(kept, form) {
				t.Errorf("the database has %s %s", secret, how)
			}
		}
	}
}

func page(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(fmt.Sprint(resp.Status, " ", err))
	}
	return string(raw)
}
