package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/llm"
)

const key, prompt = "sk-secret-key", "the prompt's words"

// newClient is a client for one test. It does not wait between attempts, and counts them.
func newClient(t *testing.T, o llm.Options) (c *llm.Client, waits *[]time.Duration) {
	t.Helper()
	c, err := llm.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, llm.RecordWaits(c)
}

func endpoint(s *modeltest.Server) llm.Endpoint {
	return llm.Endpoint{BaseURL: s.URL(), APIKey: key, Model: modeltest.Model}
}

func question() llm.Request {
	return llm.Request{
		Messages: []llm.Message{{Role: llm.System, Content: "be brief"}, {Role: llm.User, Content: prompt}},
		Tools:    []llm.Function{{Name: "click", Description: "clicks", Parameters: json.RawMessage(`{"type":"object"}`)}},
	}
}

// ask streams one answer and returns its pieces as well, as one line each.
func ask(ctx context.Context, c *llm.Client, e llm.Endpoint) (a llm.Answer, pieces []string, err error) {
	a, err = c.Stream(ctx, e, question(), func(d llm.Delta) error {
		switch {
		case d.Pause: // wherever the network makes one
		case d.Call != nil:
			pieces = append(pieces, fmt.Sprintf("%d %s %s %s", d.Call.Index, d.Call.ID, d.Call.Name, d.Call.Args))
		default:
			pieces = append(pieces, d.Text)
		}
		return nil
	})
	return a, pieces, err
}

// mustFail expects an error of this code that says nothing it must not.
func mustFail(t *testing.T, err error, code llm.Code) (failed *llm.Error) {
	t.Helper()
	if !errors.As(err, &failed) || failed.Code != code {
		t.Fatalf("got error %v, want %s", err, code)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), key) || strings.Contains(e.Error(), prompt) {
			t.Errorf("error %q holds a key or a prompt", e)
		}
	}
	return failed
}

func TestText(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t)
	s.Script(modeltest.Say("one ", "two").Usage(12, 2))
	c, _ := newClient(t, llm.Options{})
	a, pieces, err := ask(t.Context(), c, endpoint(s))
	if err != nil {
		t.Fatal(err)
	}
	want := llm.Answer{Text: "one two", Finish: "stop", Usage: llm.Usage{Prompt: 12, Completion: 2}}
	if !reflect.DeepEqual(a, want) || !slices.Equal(pieces, []string{"one ", "two"}) {
		t.Errorf("got %+v in %q", a, pieces)
	}
	r := s.Requests()[0]
	if r.Key() != key || !slices.Equal(r.Tools, []string{"click"}) || len(r.Messages) != 2 {
		t.Errorf("sent %+v", r)
	}
}

func TestParallelCallsAreMergedByIndex(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t)
	s.Script(modeltest.Say("ok").Then(modeltest.Calls(
		modeltest.ToolCall{Name: "click", Args: `{"a":1}`}, modeltest.ToolCall{Name: "type", Args: `{bad}`})))
	c, _ := newClient(t, llm.Options{})
	a, pieces, err := ask(t.Context(), c, endpoint(s))
	if err != nil {
		t.Fatal(err)
	}
	want := []llm.Call{{ID: "call_0", Name: "click", Args: `{"a":1}`}, {ID: "call_1", Name: "type", Args: "{bad}"}}
	if !reflect.DeepEqual(a.Calls, want) || a.Finish != "tool_calls" {
		t.Errorf("got %+v", a)
	}
	if got := strings.Join(pieces, "|"); got != `ok|0 call_0 click |1 call_1 type |0 call_0 click {"a|1 call_1 type {b|0 call_0 click ":1}|1 call_1 type ad}` {
		t.Errorf("pieces %s", got)
	}
}

func TestRetries(t *testing.T) {
	t.Parallel()
	busy := modeltest.Status(http.StatusTooManyRequests, nil, `{"error":{"message":"slow down: `+prompt+`","code":"rate_limit_exceeded"}}`)
	asks := modeltest.Status(http.StatusTooManyRequests, http.Header{"Retry-After": {"3"}}, "")
	asksLong := modeltest.Status(http.StatusServiceUnavailable, http.Header{"Retry-After": {"600"}}, "")
	broken := modeltest.Status(http.StatusInternalServerError, nil, "<html>"+prompt)
	quota := modeltest.Status(http.StatusTooManyRequests, nil, `{"error":{"code":"insufficient_quota"}}`)
	fine := modeltest.Say("fine")
	const s = time.Second
	for name, c := range map[string]struct {
		answers []modeltest.Answer
		waits   []time.Duration // at least; a quarter more at most
		code    llm.Code        // "" for an answer
	}{
		"429 then fine":                {[]modeltest.Answer{busy, fine}, []time.Duration{s}, ""},
		"429 for ever":                 {modeltest.Repeat(4, busy), []time.Duration{s, 2 * s, 4 * s}, llm.RateLimited},
		"429 asks for time":            {[]modeltest.Answer{asks, fine}, []time.Duration{3 * s}, ""},
		"503 asks for long":            {[]modeltest.Answer{asksLong, fine}, []time.Duration{8 * s}, ""},
		"500 then fine":                {[]modeltest.Answer{broken, broken, broken, fine}, []time.Duration{s, 2 * s, 4 * s}, ""},
		"500 for ever":                 {modeltest.Repeat(4, broken), []time.Duration{s, 2 * s, 4 * s}, llm.ModelUnavailable},
		"quota":                        {[]modeltest.Answer{quota}, nil, llm.RateLimited},
		"401":                          {[]modeltest.Answer{modeltest.Status(401, nil, `{"error":{"message":"Incorrect key `+key+`"}}`)}, nil, llm.Unauthorized},
		"403":                          {[]modeltest.Answer{modeltest.Status(403, nil, "")}, nil, llm.Unauthorized},
		"400":                          {[]modeltest.Answer{modeltest.Status(400, nil, prompt)}, nil, llm.ModelProtocol},
		"404":                          {[]modeltest.Answer{modeltest.Status(404, nil, `{"error":{"code":"model_not_found"}}`)}, nil, llm.ModelProtocol},
		"413":                          {[]modeltest.Answer{modeltest.Status(413, nil, "")}, nil, llm.InputTooLong},
		"cut before the first":         {[]modeltest.Answer{modeltest.Say("a").Cut(0), fine}, []time.Duration{s}, ""},
		"ends before it said anything": {[]modeltest.Answer{modeltest.Say().Finish(""), fine}, []time.Duration{s}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := modeltest.New(t)
			srv.Script(c.answers...)
			client, waits := newClient(t, llm.Options{})
			a, _, err := ask(t.Context(), client, endpoint(srv))
			if c.code != "" {
				_ = mustFail(t, err, c.code)
			} else if err != nil || a.Text != "fine" {
				t.Errorf("got %+v, %v", a, err)
			}
			if n := len(srv.Requests()); n != len(c.answers) {
				t.Errorf("asked %d times, want %d", n, len(c.answers))
			}
			if !slices.EqualFunc(*waits, c.waits, func(got, want time.Duration) bool { return want <= got && got <= want+want/4 }) {
				t.Errorf("waited %v, want about %v", *waits, c.waits)
			}
		})
	}
}
