package offlinemodel_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/offlinemodel"
)

var update = flag.Bool("update", false, "write testdata anew")

type object = map[string]any

func post(t *testing.T, path string, body any) (status int, answer string) {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	offlinemodel.New(offlinemodel.Options{}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(string(b))))
	return w.Code, w.Body.String()
}

func tools(names ...string) []any {
	var out []any
	for _, n := range names {
		out = append(out, object{"type": "function", "function": object{"name": n, "parameters": object{"type": "object"}}})
	}
	return out
}

// reply is an answer that is not streamed.
type reply struct {
	Choices []struct {
		Message struct {
			Role, Content string
			ToolCalls     []json.RawMessage `json:"tool_calls"`
		}
		Finish string `json:"finish_reason"`
	}
}

// talk goes on with a conversation until the model calls no more, and gives each call the next result. It returns the last
// text and how many answers had calls.
func talk(t *testing.T, messages []any, offered []any, results ...string) (text string, rounds int) {
	t.Helper()
	for {
		status, body := post(t, "/v1/chat/completions", object{"messages": messages, "tools": offered})
		var r reply
		if err := json.Unmarshal([]byte(body), &r); err != nil || status != http.StatusOK {
			t.Fatalf("status %d: %s", status, body)
		}
		m := r.Choices[0].Message
		if len(m.ToolCalls) == 0 {
			return m.Content, rounds
		}
		rounds++
		messages = append(messages, object{"role": "assistant", "content": m.Content, "tool_calls": m.ToolCalls})
		for _, c := range m.ToolCalls {
			if len(results) == 0 {
				t.Fatalf("called %s without a result left", c)
			}
			var id struct{ ID string }
			if err := json.Unmarshal(c, &id); err != nil {
				t.Fatal(err)
			}
			messages = append(messages, object{"role": "tool", "tool_call_id": id.ID, "content": results[0]})
			results = results[1:]
		}
	}
}

func user(text string) any { return object{"role": "user", "content": text} }

const honest = "I am the offline model of Hecaton: I follow plain commands, I do not reason."

func TestConversations(t *testing.T) {
	t.Parallel()
	offered := tools("read_file", "click", "screenshot")
	for name, c := range map[string]struct {
		messages []any
		tools    []any
		results  []string
		rounds   int
		has      []string // of the last text
		lacks    []string
	}{
		"one":            {[]any{user("read a.txt")}, offered, []string{"forty-two"}, 1, []string{"read_file answered: forty-two"}, nil},
		"in order":       {[]any{user("read a.txt then click #b")}, offered, []string{"x", "y"}, 2, []string{"read_file answered: x", "click answered: y"}, nil},
		"at once":        {[]any{user("at once: read a.txt; click #b")}, offered, []string{"x", "y"}, 1, []string{"read_file answered: x", "click answered: y"}, nil},
		"long result":    {[]any{user("read a.txt")}, offered, []string{strings.Repeat("é", 1000)}, 1, []string{"éé…"}, []string{strings.Repeat("é", 301)}},
		"empty result":   {[]any{user("read a.txt")}, offered, []string{""}, 1, []string{"read_file answered nothing."}, nil},
		"rejected":       {[]any{user("click #b then read a.txt")}, offered, []string{"The user rejected this call of click (no). It did not run. Do not try this call again."}, 1, []string{"click did not succeed", "I stop here and do not try it again."}, nil},
		"nobody decided": {[]any{user("click #b then read a.txt")}, offered, []string{"Nobody decided in time whether click may run, so it did not run. This was not a person's no."}, 1, []string{"did not succeed"}, nil},
		"unknown":        {[]any{user("click #b")}, offered, []string{"The call may have run; it was not run again."}, 1, []string{"did not succeed"}, nil},
		"not sent":       {[]any{user("click #b")}, offered, []string{"The call of click was not sent: no such tool."}, 1, []string{"did not succeed"}, nil},
		"error":          {[]any{user("read a.txt")}, offered, []string{"Error: no such file"}, 1, []string{"did not succeed: Error: no such file"}, nil},
		"one of two":     {[]any{user("at once: read a.txt; click #b")}, offered, []string{"fine", "rejected: no"}, 1, []string{"read_file answered: fine", "click did not succeed"}, nil},
		"no such tool":   {[]any{user("read a.txt then open example.org")}, offered, []string{"x"}, 1, []string{"read_file answered: x", "I cannot do this: open example.org", honest, "read_file, click, screenshot"}, nil},
		"not understood": {[]any{user("read a.txt then sing")}, offered, []string{"x"}, 1, []string{"read_file answered: x", `"sing"`, honest}, nil},
		"no tools":       {[]any{user("read a.txt")}, nil, nil, 0, []string{honest, "No tool is on offer."}, nil},
		"help":           {[]any{user("hello, what can you do?")}, offered, nil, 0, []string{honest, "read the file notes.txt", "take a screenshot"}, []string{"todo"}},
		"no command":     {[]any{user("why is the sky blue")}, offered, nil, 0, []string{honest, "why is the sky blue"}, nil},
		"no user":        {[]any{object{"role": "system", "content": "x"}}, nil, nil, 0, []string{honest}, nil},
		"words":          {[]any{user("read a.txt then say 3 words then click #b")}, offered, []string{"x", "y"}, 2, []string{"click answered: y"}, nil},
		"many words":     {[]any{user("say 200 words")}, offered, nil, 0, []string{"These are words"}, nil},
		"later turn": {[]any{user("read a.txt"), object{"role": "assistant", "content": "done"}, user("click #b")}, offered, []string{"y"}, 1,
			[]string{"click answered: y"}, []string{"read_file"}},
		"thanks afterwards": {[]any{user("read a.txt"), object{"role": "assistant", "content": "done"}, user("thanks")}, offered, nil, 0,
			[]string{"thanks"}, []string{"read_file"}},
		"a remark on the way": {[]any{user("click #a then click #b"),
			object{"role": "assistant", "tool_calls": []any{object{"id": "1", "function": object{"name": "click", "arguments": "{}"}}}},
			object{"role": "tool", "tool_call_id": "1", "content": "did a"}, user("use the second card")}, offered, []string{"did b"}, 1,
			[]string{"did a", "did b"}, nil},
		"summary": {[]any{object{"role": "system", "content": "Summarise what follows."}, user("user: read a.txt\nassistant: It says " + strings.Repeat("x", 200) + "\n")}, nil, nil, 0,
			[]string{"\nuser: read a.txt\nassistant: It says xxx", "x…", "does not reason"}, nil},
		"summarised away": {[]any{user("[Summary of the conversation so far]\n- read a.txt"),
			object{"role": "assistant", "tool_calls": []any{object{"id": "1", "function": object{"name": "click", "arguments": "{}"}}}},
			object{"role": "tool", "tool_call_id": "1", "content": "did a"}}, offered, nil, 0, []string{"click answered: did a", "no longer have the commands"}, nil},
		"repeated": {[]any{user("click #b 12 times")}, offered, strings.Fields(strings.Repeat("y ", 12)), 12, []string{"2 more results came before these"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, rounds := talk(t, c.messages, c.tools, c.results...)
			if rounds != c.rounds {
				t.Errorf("%d answers with calls, want %d", rounds, c.rounds)
			}
			for _, want := range c.has {
				if !strings.Contains(text, want) {
					t.Errorf("%q lacks %q", text, want)
				}
			}
			for _, not := range c.lacks {
				if strings.Contains(text, not) {
					t.Errorf("%q has %q", text, not)
				}
			}
		})
	}
}

// TestTranscript compares the bytes of streams. Run with -update to write them anew.
func TestTranscript(t *testing.T) {
	t.Parallel()
	offered := tools("read_file", "click")
	for name, body := range map[string]object{
		"words":  {"messages": []any{user("say 3 words")}, "stream_options": object{"include_usage": true}},
		"call":   {"messages": []any{user("read the file notes.txt")}, "tools": offered},
		"calls":  {"messages": []any{user("at once: read ü.txt; click #b")}, "tools": offered, "stream_options": object{"include_usage": true}},
		"cannot": {"messages": []any{user("take a screenshot")}, "tools": offered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body["stream"] = true
			status, got := post(t, "/v1/chat/completions", body)
			file := "testdata/" + name + ".sse"
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if status != http.StatusOK || got != string(want) {
				t.Errorf("status %d:\n%s\nwant\n%s", status, got, want)
			}
			if _, again := post(t, "/v1/chat/completions", body); again != got {
				t.Error("another stream for the same request")
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, body := range []any{"x", object{}, object{"messages": []any{}}, object{"messages": []any{object{"role": "user", "content": 3}}}} {
		if status, answer := post(t, "/v1/chat/completions", body); status != http.StatusBadRequest || !strings.Contains(answer, `"error":{"message":`) {
			t.Errorf("%v: status %d, %s", body, status, answer)
		}
	}
	if status, _ := post(t, "/v1/other", object{}); status != http.StatusNotFound {
		t.Errorf("status %d of another path", status)
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	offlinemodel.New(offlinemodel.Options{}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/models", nil))
	if want := `{"object":"list","data":[{"id":"offline-1","object":"model","created":0,"owned_by":"hecaton"}]}`; strings.TrimSpace(w.Body.String()) != want {
		t.Errorf("got %s", w.Body)
	}
}

// A model that takes its time stops when its client leaves: the server's Close would hang otherwise.
func TestPacedStreamEndsWithItsClient(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(offlinemodel.New(offlinemodel.Options{Delay: 1 << 60}))
	t.Cleanup(srv.Close)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL+"/v1/chat/completions",
		strings.NewReader(`{"stream":true,"messages":[{"role":"user","content":"say 9 words"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Errorf("status %d", resp.StatusCode)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	transport.CloseIdleConnections()
}
