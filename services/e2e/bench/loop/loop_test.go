package loop_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	openai "github.com/sashabaranov/go-openai"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hecaton-dev/hecaton/pkg/model/offlinemodel"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/loop"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts the offline model and a loop that asks it, and counts the model's connections.
func serve(t *testing.T, call func(ctx context.Context, user, name, args string) (string, error)) (*loop.Loop, *atomic.Int32) {
	t.Helper()
	connections := new(atomic.Int32)
	model := httptest.NewUnstartedServer(offlinemodel.New(offlinemodel.Options{}))
	model.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	model.Start()
	t.Cleanup(model.Close)
	l := loop.New(loop.Options{
		BaseURL: model.URL + "/v1",
		Ask: openai.ChatCompletionRequest{
			Model: offlinemodel.Name,
			Tools: []openai.Tool{{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: "look", Parameters: map[string]any{"type": "object"}}}},
		},
		Call: call,
	})
	t.Cleanup(l.Close)
	return l, connections
}

func TestLoop(t *testing.T) {
	t.Parallel()
	var calls []string
	l, connections := serve(t, func(_ context.Context, user, name, args string) (string, error) {
		calls = append(calls, user+" "+name+" "+args)
		return "a tree", nil
	})
	var text strings.Builder
	var told []string
	note := func(id, name, what string) error {
		told = append(told, id+" "+name+" "+what)
		return nil
	}
	for range 3 {
		calls, told = nil, nil
		text.Reset()
		answer, err := l.Run(t.Context(), "ana", `call look {"at":"it"} then call look {} then say 3 words`, loop.Hear{
			Text: func(piece string) error { text.WriteString(piece); return nil }, Called: note, Result: note,
		})
		if err != nil || !strings.Contains(answer, "a tree") || !strings.HasSuffix(text.String(), answer) {
			t.Fatalf("%q, of %q; %v", answer, text.String(), err)
		}
		if want := []string{`ana look {"at":"it"}`, "ana look {}"}; !slices.Equal(calls, want) {
			t.Errorf("called %q", calls)
		}
		if want := []string{`call_1 look {"at":"it"}`, "call_1 look a tree", "call_2 look {}", "call_2 look a tree"}; !slices.Equal(told, want) {
			t.Errorf("told %q", told)
		}
	}
	if n := connections.Load(); n > 3 { // the next question may come before the last answer's end was read
		t.Errorf("%d connections for 9 questions", n)
	}
}

func TestLoopFails(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	l, _ := serve(t, func(context.Context, string, string, string) (string, error) { return "", away })
	hear := loop.Hear{
		Text: func(string) error { return nil }, Called: func(string, string, string) error { return nil },
	}
	if _, err := l.Run(t.Context(), "ana", "call look {}", hear); !errors.Is(err, away) {
		t.Errorf("the tool fails with %v", err)
	}
	hear.Text = func(string) error { return away }
	if _, err := l.Run(t.Context(), "ana", "say 3 words", hear); !errors.Is(err, away) {
		t.Errorf("the caller fails with %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Run(ctx, "ana", "say 3 words", hear); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of its context: %v", err)
	}
}

func TestAgent(t *testing.T) {
	t.Parallel()
	l, _ := serve(t, func(context.Context, string, string, string) (string, error) { return "a tree", nil })
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, served := grpc.NewServer(), make(chan error, 1)
	agentv1.RegisterAgentServiceServer(s, loop.Agent{Loop: l})
	go func() { served <- s.Serve(ln) }()
	t.Cleanup(func() {
		s.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	conn, err := grpc.NewClient(ln.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	stream, err := agentv1.NewAgentServiceClient(conn).Invoke(auth.OnBehalf(t.Context(), "ana"), &agentv1.InvokeRequest{Message: "call look {}"})
	if err != nil {
		t.Fatal(err)
	}
	var text, result, finish string
	for seq := int64(1); ; seq++ {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || r.GetEvent().GetSeq() != seq {
			t.Fatalf("%v, %v", r, err)
		}
		text += r.GetEvent().GetText().GetContent()
		result += r.GetEvent().GetToolCallResult().GetResult()
		finish += r.GetEvent().GetComplete().GetFinishReason()
	}
	if text == "" || result != "a tree" || finish != "stop" {
		t.Errorf("%q, %q, %q", text, result, finish)
	}
}
