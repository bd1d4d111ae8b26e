package modeltest_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// answer is a response of which the body is read bit by bit. The test's Cleanup closes it.
type answer struct {
	status int
	header http.Header
	body   io.Reader
}

func post(t *testing.T, s *modeltest.Server, body string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer k")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return answer{resp.StatusCode, resp.Header, resp.Body}
}

func ask(t *testing.T, s *modeltest.Server, body string) (string, error) {
	t.Helper()
	b, err := io.ReadAll(post(t, s, body).body)
	return string(b), err
}

const streamed = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`

func TestStreamOfTextAndParallelCalls(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t)
	s.Script(modeltest.Say("on ", "it").Then(modeltest.Calls(
		modeltest.ToolCall{Name: "click", Args: map[string]any{"n": 1}}, modeltest.ToolCall{ID: "x", Name: "type", Args: `{bad`})).Usage(3, 4))
	got, err := ask(t, s, streamed)
	if err != nil {
		t.Fatal(err)
	}
	const head = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":0,"model":"m","choices":[`
	want := head + strings.Join([]string{
		`{"index":0,"delta":{"content":"on "},"finish_reason":null}]}`,
		`{"index":0,"delta":{"content":"it"},"finish_reason":null}]}`,
		`{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":"click","arguments":""}}]},"finish_reason":null}]}`,
		`{"index":0,"delta":{"tool_calls":[{"index":1,"id":"x","type":"function","function":{"name":"type","arguments":""}}]},"finish_reason":null}]}`,
		`{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"n"}}]},"finish_reason":null}]}`,
		`{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{b"}}]},"finish_reason":null}]}`,
		`{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\":1}"}}]},"finish_reason":null}]}`,
		`{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"ad"}}]},"finish_reason":null}]}`,
		`{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
		`],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}`,
	}, "\n\n"+head) + "\n\ndata: [DONE]\n\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWholeAnswer(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t)
	s.Script(modeltest.Call("click", `{"a":1}`))
	got, err := ask(t, s, `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`)
	if err != nil || !strings.Contains(got, `"tool_calls":[{"id":"call_0","type":"function","function":{"name":"click","arguments":"{\"a\":1}"}}]},"finish_reason":"tool_calls"`) {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestRulesAndRecord(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t)
	s.Script(modeltest.Say("other"))
	s.When(modeltest.Mentions("hi"), modeltest.Repeat(2, modeltest.Say("hello"))...)
	s.Otherwise(modeltest.Func(func(r modeltest.Request) modeltest.Answer { return modeltest.Say("rest of " + r.Model) }))
	for i, want := range []string{"hello", "hello", "other", "rest of m"} {
		if got, err := ask(t, s, streamed); err != nil || !strings.Contains(got, want) {
			t.Errorf("answer %d is %s, %v; want %s", i, got, err, want)
		}
	}
	rs := s.Requests()
	if len(rs) != 4 || rs[0].Key() != "k" || !bytes.Equal(rs[0].Body, []byte(streamed)) {
		t.Fatalf("recorded %+v", rs)
	}
	if m, ok := rs[0].Last("user"); !ok || m.Content != "hi" {
		t.Errorf("the last user message is %+v", m)
	}
	if _, ok := rs[0].Last("tool"); ok {
		t.Error("found a message that was not sent")
	}
}

func TestBadDays(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t)
	s.Script(modeltest.Say("a", "b", "c").Cut(2), modeltest.Status(429, http.Header{"Retry-After": {"3"}}, "slow"),
		modeltest.Raw("da", "ta: x"), modeltest.Body("text/html", "<p>"))
	if got, err := ask(t, s, streamed); err == nil || !strings.Contains(got, `"b"`) || strings.Contains(got, `"c"`) {
		t.Errorf("a cut stream read %q, %v", got, err)
	}
	if resp := post(t, s, streamed); resp.status != 429 || resp.header.Get("Retry-After") != "3" {
		t.Errorf("status %v", resp)
	}
	for _, want := range []string{"data: x", "<p>"} {
		if got, err := ask(t, s, streamed); err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
}

func TestGateHoldsTheStream(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t)
	gate := make(chan struct{})
	s.Script(modeltest.Say("before").Wait(gate).Then(modeltest.Say("after")))
	body := post(t, s, streamed).body
	first := make([]byte, 64<<10)
	n, err := body.Read(first)
	if err != nil || !strings.Contains(string(first[:n]), "before") {
		t.Fatalf("read %q, %v", first[:n], err)
	}
	close(gate)
	rest, err := io.ReadAll(body)
	if err != nil || !strings.Contains(string(rest), "after") {
		t.Errorf("read %q, %v", rest, err)
	}
}

// A held stream ends with its client or its test, whichever is first: the server's Cleanup would hang otherwise.
func TestStalledStreamEndsWithTheTest(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t)
	s.Script(modeltest.Say("a", "b").Stall(1))
	resp := post(t, s, streamed)
	buf := make([]byte, 64<<10)
	if n, err := resp.body.Read(buf); err != nil || !slices.Contains(strings.Split(string(buf[:n]), `"`), "a") {
		t.Fatalf("read %q, %v", buf[:n], err)
	}
}
