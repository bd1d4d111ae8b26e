package llm_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/model/offlinemodel"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
)

// sent returns what a request is on the wire.
func sent(t *testing.T, model string, temperature *float64, r llm.Request) map[string]any {
	t.Helper()
	s := modeltest.New(t)
	s.Script(modeltest.Say("ok"))
	client, _ := newClient(t, llm.Options{})
	e := llm.Endpoint{BaseURL: s.URL() + "/chat/completions", APIKey: " " + key + "\n", Model: model, Temperature: temperature}
	if _, err := client.Stream(t.Context(), e, r, func(llm.Delta) error { return nil }); err != nil {
		t.Fatal(err)
	}
	got := s.Requests()[0]
	if got.Key() != key {
		t.Errorf("sent the key %q", got.Key())
	}
	var body map[string]any
	if err := json.Unmarshal(got.Body, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

func TestRequest(t *testing.T) {
	t.Parallel()
	half := 0.5
	got := sent(t, "m", &half, llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Content: "s"},
			{Role: llm.User, Content: "u"},
			{Role: llm.Assistant, Calls: []llm.Call{{ID: "1", Name: "f", Args: `{"a":1}`}, {ID: "2", Name: "g", Args: `{bad`}}},
			{Role: llm.Tool, CallID: "1", Name: "f", Content: ""},
			{Role: llm.Tool, CallID: "2", Name: "g", Content: "r"},
		},
		Tools: []llm.Function{
			{Name: "f", Description: "d", Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"number"}}}`)},
			{Name: "g", Parameters: json.RawMessage(`{broken`)},
			{Name: "h"},
		},
	})
	none := `{"type":"object","properties":{}}`
	var want map[string]any
	if err := json.Unmarshal([]byte(`{"model":"m","stream":true,"stream_options":{"include_usage":true},"temperature":0.5,"messages":[
		{"role":"system","content":"s"},{"role":"user","content":"u"},
		{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},
			{"id":"2","type":"function","function":{"name":"g","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"1","content":"(empty)"},{"role":"tool","tool_call_id":"2","content":"r"}],
		"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"a":{"type":"number"}}}}},
			{"type":"function","function":{"name":"g","parameters":`+none+`}},{"type":"function","function":{"name":"h","parameters":`+none+`}}]}`), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("sent %v\nwant %v", got, want)
	}
}

func TestTemperature(t *testing.T) {
	t.Parallel()
	zero, half := 0.0, 0.5
	for _, c := range []struct {
		model string
		asked *float64
		sent  func(any) bool
	}{
		{"m", nil, func(v any) bool { return v == nil }},
		{"m", &half, func(v any) bool { return v == 0.5 }},
		{"m", &zero, func(v any) bool { f, ok := v.(float64); return ok && f < 1e-30 }},
		{"o3-mini", &half, func(v any) bool { return v == nil }},
		{"gpt-5", &half, func(v any) bool { return v == nil }},
	} {
		if got := sent(t, c.model, c.asked, question())["temperature"]; !c.sent(got) {
			t.Errorf("%s: sent temperature %v", c.model, got)
		}
	}
}

// The connection of an answer serves the next request: a handshake per step would cost more than the step.
func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	opened, idle := 0, make(chan struct{}, 10)
	srv := httptest.NewUnstartedServer(offlinemodel.New(offlinemodel.Options{}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			opened++ // read after the connection's StateIdle was received
		case http.StateIdle:
			idle <- struct{}{}
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	client, _ := newClient(t, llm.Options{})
	for range 3 {
		a, _, err := ask(t.Context(), client, llm.Endpoint{BaseURL: srv.URL + "/v1", Model: offlinemodel.Name})
		if err != nil || !strings.Contains(a.Text, "offline") {
			t.Fatalf("got %+v, %v", a, err)
		}
		<-idle
		llm.Drained(client)
	}
	if opened != 1 {
		t.Errorf("opened %d connections", opened)
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]int{
		"gpt-4o-mini": 128_000, "gpt-4": 8_192, "gpt-4.1-nano": 1_047_576, "openai/GPT-4o": 128_000, "o3-mini": 200_000, "o1-mini": 128_000,
		"claude-sonnet-4": 200_000, "models/gemini-2.5-pro": 1_048_576, "Qwen/Qwen3-Coder-480B": 262_144, "deepseek-chat": 64_000,
		"meta-llama/Llama-3.1-8B": 131_072, "mistral-7b": 32_768, "glm-4.6": 204_800, "kimi-k2": 131_072, "": 64_000, "mine": 64_000, "x/": 64_000,
	} {
		if got := llm.Window(model); got != want {
			t.Errorf("Window(%q) is %d, want %d", model, got, want)
		}
	}
}

func TestEstimate(t *testing.T) {
	t.Parallel()
	of := func(s string) int {
		return llm.Estimate(llm.Request{Messages: []llm.Message{{Content: s}}}) - llm.Estimate(llm.Request{Messages: []llm.Message{{}}})
	}
	for s, want := range map[string][2]int{ // what tokenizers of today count, within a third or so
		"The quick brown fox jumps over the lazy dog.": {8, 14},
		"今天天气很好，我们去公园吧。":                               {9, 16},
		"Съешь же ещё этих мягких французских булок":   {11, 24},
		"": {0, 0},
	} {
		if got := of(s); got < want[0] || got > want[1] {
			t.Errorf("%q is estimated as %d, want %v", s, got, want)
		}
	}
	if with, without := llm.Estimate(question()), llm.Estimate(llm.Request{Messages: question().Messages}); with <= without {
		t.Error("tools cost nothing")
	}
	if of("\xff\xfe") > 2 {
		t.Error("bytes that are no text cost more than their number")
	}
}
