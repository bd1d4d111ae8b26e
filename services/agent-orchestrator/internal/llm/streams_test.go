package llm_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
)

// event is a streamed document with this as its first choice.
func event(choice string) string { return `data: {"choices":[` + choice + "]}\n\n" }

func text(s string) string { return event(`{"index":0,"delta":{"content":"` + s + `"}}`) }

const (
	stop = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	done = "data: [DONE]\n\n"
)

// TestEndpointsDiffer says what is understood although it is not what OpenAI sends.
func TestEndpointsDiffer(t *testing.T) {
	t.Parallel()
	call := func(piece string) string { return event(`{"delta":{"tool_calls":[` + piece + `]}}`) }
	for name, c := range map[string]struct {
		answer modeltest.Answer
		text   string
		calls  []llm.Call
	}{
		"no [DONE]":                        {modeltest.Raw(text("a"), stop), "a", nil},
		"no last line break":               {modeltest.Raw(text("a"), strings.TrimSpace(stop)), "a", nil},
		"cut after the finish":             {modeltest.Raw(text("a"), stop).Cut(2), "a", nil},
		"half a document after the finish": {modeltest.Raw(text("a"), stop, `data: {"usa`), "a", nil},
		"comments and names":               {modeltest.Raw(": ping\n\n", "event: x\nid: 1\n"+text("a"), ": ping\n\n", stop, done), "a", nil},
		"CRLF":                             {modeltest.Raw(strings.ReplaceAll(text("a")+stop+done, "\n", "\r\n")), "a", nil},
		"no space, BOM":                    {modeltest.Raw("\ufeff", strings.ReplaceAll(text("a")+stop+done, "data: ", "data:")), "a", nil},
		"torn lines":                       {modeltest.Raw("da", "ta: {\"choices\":[{\"delta\":{\"con", "tent\":\"a\"}}]}", "\n", "\n"+stop+done), "a", nil},
		"null and empty": {modeltest.Raw(event(`{"delta":{"role":"assistant","content":null,"tool_calls":null}}`), event(`{"delta":{"content":""},"finish_reason":""}`),
			text("a"), stop, done), "a", nil},
		"parts":           {modeltest.Raw(event(`{"delta":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"}]}}`), stop, done), "a", nil},
		"reasoning":       {modeltest.Raw(event(`{"delta":{"reasoning_content":"hm"}}`), text("a"), stop, done), "a", nil},
		"refusal":         {modeltest.Raw(event(`{"delta":{"refusal":"no"}}`), stop, done), "no", nil},
		"other choices":   {modeltest.Raw(event(`{"index":1,"delta":{"content":"b"},"finish_reason":"stop"}`), text("a"), stop, done), "a", nil},
		"old calls":       {modeltest.Raw(event(`{"delta":{"function_call":{"name":"f","arguments":"{}"}}}`), text("a"), stop, done), "a", nil},
		"no choices":      {modeltest.Raw(`data: {"choices":[],"prompt_filter_results":[]}`+"\n", text("a"), stop, done), "a", nil},
		"null error":      {modeltest.Raw(`data: {"choices":[{"delta":{"content":"a"}}],"error":null,"code":null}`+"\n", stop, done), "a", nil},
		"no content type": {modeltest.Body("", text("a")+stop+done), "a", nil},
		"not streamed": {modeltest.Body("application/json", `{"choices":[{"message":{"role":"assistant","content":"a","tool_calls":[{"id":"x","type":"function",
			"function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`), "a", []llm.Call{{ID: "x", Name: "f", Args: "{}"}}},
		"no ids":        {modeltest.Raw(call(`{"index":0,"function":{"name":"f","arguments":"{}"}}`), stop, done), "", []llm.Call{{Name: "f", Args: "{}"}}},
		"no arguments":  {modeltest.Raw(call(`{"index":0,"id":"x","function":{"name":"f"}}`), stop, done), "", []llm.Call{{ID: "x", Name: "f"}}},
		"parsed":        {modeltest.Raw(call(`{"index":0,"id":"x","function":{"name":"f","arguments":{"a":1}}}`), stop, done), "", []llm.Call{{ID: "x", Name: "f", Args: `{"a":1}`}}},
		"odd indices":   {modeltest.Raw(call(`{"index":7,"id":"x","function":{"name":"f","arguments":"{"}},{"index":3,"id":"y","function":{"name":"g","arguments":"{}"}}`), call(`{"index":7,"function":{"arguments":"}"}}`), stop, done), "", []llm.Call{{ID: "x", Name: "f", Args: "{}"}, {ID: "y", Name: "g", Args: "{}"}}},
		"repeated head": {modeltest.Raw(call(`{"index":0,"id":"x","function":{"name":"f","arguments":"{"}}`), call(`{"index":0,"id":"x","function":{"name":"f","arguments":"}"}}`), stop, done), "", []llm.Call{{ID: "x", Name: "f", Args: "{}"}}},
		"late name":     {modeltest.Raw(call(`{"index":0,"id":"x","function":{"arguments":"{"}}`), call(`{"index":0,"function":{"name":"f","arguments":"}"}}`), stop, done), "", []llm.Call{{ID: "x", Name: "f", Args: "{}"}}},
		"index always 0": {modeltest.Raw(call(`{"index":0,"id":"x","function":{"name":"f","arguments":"{}"}}`), call(`{"index":0,"id":"y","function":{"name":"g","arguments":"{}"}}`), stop, done), "",
			[]llm.Call{{ID: "x", Name: "f", Args: "{}"}, {ID: "y", Name: "g", Args: "{}"}}},
		"no index": {modeltest.Raw(call(`{"id":"x","function":{"name":"f","arguments":"{"}}`), call(`{"function":{"arguments":"}"}}`), call(`{"id":"y","function":{"name":"g","arguments":"{}"}}`), stop, done), "",
			[]llm.Call{{ID: "x", Name: "f", Args: "{}"}, {ID: "y", Name: "g", Args: "{}"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.New(t)
			s.Script(c.answer)
			client, _ := newClient(t, llm.Options{})
			a, pieces, err := ask(t.Context(), client, endpoint(s))
			if err != nil || a.Text != c.text || !reflect.DeepEqual(a.Calls, c.calls) || a.Finish == "" {
				t.Errorf("got %+v in %q, %v", a, pieces, err)
			}
			if a.Usage.Prompt == 0 || a.Usage.Completion == 0 {
				t.Errorf("usage %+v is not estimated", a.Usage)
			}
		})
	}
}

// TestAnswersThatAreNone says with which code each ends.
func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	failing := func(body string) modeltest.Answer { return modeltest.Raw("event: error\ndata: " + body + "\n\n") }
	for name, c := range map[string]struct {
		answer  modeltest.Answer
		code    llm.Code
		started bool
	}{
		"cut in the text":       {modeltest.Say("a", "b").Cut(1), llm.ModelUnavailable, true},
		"cut in a call":         {modeltest.Call("f", `{"a":1}`).Cut(2), llm.ModelUnavailable, true},
		"cut after its calls":   {modeltest.Call("f", `{"a":1}`).Cut(3), llm.ModelUnavailable, true},
		"ends without a reason": {modeltest.Say("a").Finish(""), llm.ModelUnavailable, true},
		"ends in a document":    {modeltest.Raw(text("a"), `data: {"choices":[{"del`), llm.ModelUnavailable, true},
		"malformed":             {modeltest.Raw(text("a"), "data: {"+prompt+"}\n\n", stop), llm.ModelProtocol, true},
		"malformed at once":     {modeltest.Raw("data: {"+prompt+"}\n\n", stop), llm.ModelProtocol, false},
		"no document":           {modeltest.Raw("data: 3\n\n"), llm.ModelProtocol, false},
		"no stream":             {modeltest.Raw("hello\nworld\n"), llm.ModelProtocol, false},
		"a page":                {modeltest.Body("text/html; charset=utf-8", "<html>"+prompt), llm.ModelProtocol, false},
		"a page by its text":    {modeltest.Body("text/event-stream", "<html>\n"+prompt), llm.ModelProtocol, false},
		"another document":      {modeltest.Body("application/json", `{"hello":"world"}`), llm.ModelProtocol, false},
		"no JSON":               {modeltest.Body("application/json", prompt), llm.ModelProtocol, false},
		"a line too long":       {modeltest.Raw(text("a"), "data: "+strings.Repeat("x", 1<<20)), llm.ModelProtocol, true},
		"an answer too long":    {modeltest.Raw(strings.Repeat(text(strings.Repeat("x", 1<<19)), 9)), llm.ModelProtocol, true},
		"calls too many":        {modeltest.Calls(make([]modeltest.ToolCall, 1025)...), llm.ModelProtocol, false},
		"an error in the text":  {modeltest.Raw(text("a"), `data: {"error":{"message":"`+prompt+`"}}`+"\n\n"), llm.ModelUnavailable, true},
		"too long, in 200":      {modeltest.Body("application/json", `{"error":{"message":"maximum context length is 4096 tokens: `+prompt+`"}}`), llm.ContextOverflow, false},
		"too long, in a stream": {failing(`{"code":"InvalidParameter","message":"Range of input length should be [1, 6000]"}`), llm.InputTooLong, false},
		"key, in a stream":      {failing(`{"error":{"message":"Incorrect key ` + key + `","code":"invalid_api_key"}}`), llm.Unauthorized, false},
		"too long":              {modeltest.Status(400, nil, `{"error":{"code":"context_length_exceeded","message":"`+prompt+`"}}`), llm.ContextOverflow, false},
		"too long, of Qwen":     {modeltest.Status(400, nil, `{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]"}}`), llm.InputTooLong, false},
		"too long, with 500":    {modeltest.Status(500, nil, `the request exceeds the token limit`), llm.ContextOverflow, false},
		"a bad gateway":         {modeltest.Body("text/html", ""), llm.ModelProtocol, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.New(t)
			s.Otherwise(c.answer)
			client, _ := newClient(t, llm.Options{})
			a, pieces, err := ask(t.Context(), client, endpoint(s))
			failed := mustFail(t, err, c.code)
			if failed.Started != c.started || c.started != (len(pieces) > 0) {
				t.Errorf("started is %v with pieces %q", failed.Started, pieces)
			}
			if want := 1; c.started && len(s.Requests()) != want {
				t.Errorf("asked %d times although pieces had come", len(s.Requests()))
			}
			if a.Text == "" && len(pieces) > 0 && len(a.Calls) == 0 {
				t.Error("what had come is not in the answer")
			}
		})
	}
}

func TestStalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answers []modeltest.Answer
		started bool
		fails   bool
	}{
		"before the head":  {[]modeltest.Answer{modeltest.Say("a").Stall(-1), modeltest.Say("fine")}, false, false},
		"before a piece":   {[]modeltest.Answer{modeltest.Say("a").Stall(0), modeltest.Say("fine")}, false, false},
		"in the text":      {[]modeltest.Answer{modeltest.Say("a", "b").Stall(1)}, true, true},
		"for ever":         {modeltest.Repeat(4, modeltest.Say("a").Stall(0)), false, true},
		"after the finish": {[]modeltest.Answer{modeltest.Raw(text("fine"), stop).Stall(2)}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.New(t)
			s.Script(c.answers...)
			client, _ := newClient(t, llm.Options{Stall: 50 * time.Millisecond})
			a, _, err := ask(t.Context(), client, endpoint(s))
			if c.fails {
				if failed := mustFail(t, err, llm.ModelUnavailable); failed.Started != c.started || !strings.Contains(failed.Message, "silent") {
					t.Errorf("failed with %+v", failed)
				}
			} else if err != nil || a.Text != "fine" {
				t.Errorf("got %+v, %v", a, err)
			}
			if len(s.Requests()) != len(c.answers) {
				t.Errorf("asked %d times", len(s.Requests()))
			}
		})
	}
}

// A slow caller is no stall: the endpoint has long said what it has to say.
func TestSlowCallerIsNoStall(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t)
	gate := make(chan struct{})
	s.Script(modeltest.Say("a").Wait(gate).Then(modeltest.Say("b")))
	client, _ := newClient(t, llm.Options{Stall: 100 * time.Millisecond})
	a, err := client.Stream(t.Context(), endpoint(s), question(), func(d llm.Delta) error {
		if d.Text == "a" {
			testkit.Pass(300 * time.Millisecond)
			close(gate)
		}
		return nil
	})
	if err != nil || a.Text != "ab" {
		t.Errorf("got %+v, %v", a, err)
	}
}

func TestCallersErrorEndsTheStream(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t)
	s.Script(modeltest.Say("a", "b").Stall(2))
	client, _ := newClient(t, llm.Options{})
	mine := errors.New("mine")
	a, err := client.Stream(t.Context(), endpoint(s), question(), func(llm.Delta) error { return mine })
	if err != mine || a.Text != "a" { //nolint:errorlint // it comes back as it is
		t.Errorf("got %+v, %v", a, err)
	}
}

func TestContextEndsTheStream(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped")
	t.Run("in an answer", func(t *testing.T) {
		t.Parallel()
		s := modeltest.New(t)
		s.Script(modeltest.Say("a").Stall(1))
		client, _ := newClient(t, llm.Options{})
		ctx, cancel := context.WithCancelCause(t.Context())
		_, err := client.Stream(ctx, endpoint(s), question(), func(llm.Delta) error { cancel(stopped); return nil })
		if !errors.Is(err, stopped) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("between attempts", func(t *testing.T) {
		t.Parallel()
		s := modeltest.New(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		s.Script(modeltest.Func(func(modeltest.Request) modeltest.Answer { return modeltest.Status(500, nil, "") }))
		client, err := llm.New(llm.Options{Logger: cancelling(func() { cancel(stopped) })})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		if _, _, err := ask(ctx, client, endpoint(s)); !errors.Is(err, stopped) || len(s.Requests()) != 1 {
			t.Errorf("got %v after %d requests", err, len(s.Requests()))
		}
	})
}

func TestStreamOptionsRefused(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t)
	s.Otherwise(modeltest.Func(func(r modeltest.Request) modeltest.Answer {
		if strings.Contains(string(r.Body), "stream_options") {
			return modeltest.Status(400, nil, `{"error":{"message":"Unrecognized request argument supplied: stream_options"}}`)
		}
		return modeltest.Say("fine")
	}))
	client, waits := newClient(t, llm.Options{})
	for range 2 {
		if a, _, err := ask(t.Context(), client, endpoint(s)); err != nil || a.Text != "fine" || a.Usage.Prompt == 0 {
			t.Errorf("got %+v, %v", a, err)
		}
	}
	if n := len(s.Requests()); n != 3 || len(*waits) != 0 {
		t.Errorf("asked %d times, waited %v", n, *waits)
	}
}

// The key goes to the endpoint that was named, whatever that says.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	other := modeltest.New(t)
	srv := httptest.NewServer(http.RedirectHandler(other.URL()+"/chat/completions", http.StatusTemporaryRedirect))
	t.Cleanup(srv.Close)
	client, _ := newClient(t, llm.Options{})
	_, _, err := ask(t.Context(), client, llm.Endpoint{BaseURL: srv.URL, APIKey: key, Model: "m"})
	_ = mustFail(t, err, llm.ModelProtocol)
	if len(other.Requests()) != 0 {
		t.Error("the redirect was followed")
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	tls.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(tls.Close)
	for name, c := range map[string]struct {
		address string
		retries int
	}{
		"nobody listens":       {gone.URL + "/" + key, 3},
		"unknown name":         {"http://no-such-host.invalid/v1", 3},
		"unknown certificate":  {tls.URL, 0},
		"no URL":               {"://" + key, 0},
		"no host":              {"/v1", 0},
		"another scheme":       {"ftp://example.org", 0},
		"guarded, unguardable": {"https://example.org", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, waits := newClient(t, llm.Options{})
			_, _, err := ask(t.Context(), client, llm.Endpoint{BaseURL: c.address, APIKey: key, Model: "m", Guarded: name == "guarded, unguardable"})
			_ = mustFail(t, err, llm.ModelUnavailable)
			if len(*waits) != c.retries {
				t.Errorf("tried again %d times", len(*waits))
			}
		})
	}
}

// chunks is what the network brings, one element for each read.
type chunks []string

func (c *chunks) Read(p []byte) (int, error) {
	if len(*c) == 0 {
		return 0, io.EOF
	}
	n := copy(p, (*c)[0])
	*c = (*c)[1:]
	return n, nil
}

// A caller is told of a pause after the pieces that came together, not after each.
func TestPauses(t *testing.T) {
	t.Parallel()
	heard := ""
	stream := chunks{text("a") + text("b"), ": ping\n\n", text("c")[:20], text("c")[20:] + text("d") + stop, done}
	_, err := llm.Merge(&stream, func(d llm.Delta) error {
		if heard += d.Text; d.Pause {
			heard += "|"
		}
		return nil
	})
	if err != nil || heard != "ab|cd|" {
		t.Errorf("%q, %v", heard, err)
	}
	mine := errors.New("mine")
	stream = chunks{text("a"), text("b") + stop + done}
	_, err = llm.Merge(&stream, func(d llm.Delta) error {
		if d.Pause {
			return mine
		}
		return nil
	})
	if err == nil || err.Error() != mine.Error() {
		t.Errorf("the caller's error at a pause: %v", err)
	}
}
