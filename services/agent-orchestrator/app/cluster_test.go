package app_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/model/modeltest"
	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
)

func ana(ctx context.Context) context.Context { return auth.OnBehalf(ctx, "ana") }

// onBoth runs a test with the configuration of pods that share a SQLite file, and of pods that share a PostgreSQL.
func onBoth(t *testing.T, test func(t *testing.T, cfg app.Config, model *modeltest.Server)) {
	t.Helper()
	for name, database := range map[string]func(*testing.T, *app.Config){
		"sqlite":   func(*testing.T, *app.Config) {},
		"postgres": func(t *testing.T, c *app.Config) { c.DatabaseURL = config.Secret(testkit.Postgres(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := modeltest.New(t)
			cfg := configuration(t)
			cfg.NATSURL, cfg.Gateways = config.Secret(testkit.OwnNATS(t).URL()), []string{serve(t).addr}
			cfg.LLM, cfg.OpenAIURL, cfg.OpenAIModel = app.LLMOpenAI, model.URL(), modeltest.Model
			database(t, &cfg)
			test(t, cfg, model)
		})
	}
}

// pod starts an orchestrator and returns a client of it.
func pod(t *testing.T, cfg app.Config) (agentv1.AgentServiceClient, func()) {
	t.Helper()
	a, stop := run(t, cfg, nil)
	return agentv1.NewAgentServiceClient(dial(t, a.GRPCAddr())), stop
}

// events reads a stream: its events, and what ended it; nil where it ended by itself.
type events struct {
	t    *testing.T
	recv func() (*agentv1.Event, error)
	seq  int64
}

func stream[R interface{ GetEvent() *agentv1.Event }](t *testing.T, s interface{ Recv() (R, error) }, err error) *events {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return &events{t: t, recv: func() (*agentv1.Event, error) { r, err := s.Recv(); return r.GetEvent(), err }}
}

func invoke(t *testing.T, ctx context.Context, c agentv1.AgentServiceClient, message string) *events {
	t.Helper()
	s, err := c.Invoke(ana(ctx), &agentv1.InvokeRequest{Message: message, SessionId: "s"})
	return stream[*agentv1.InvokeResponse](t, s, err)
}

func follow(t *testing.T, ctx context.Context, c agentv1.AgentServiceClient, after int64) *events {
	t.Helper()
	s, err := c.Follow(ana(ctx), &agentv1.FollowRequest{SessionId: "s", AfterSeq: after, Until: agentv1.FollowRequest_UNTIL_RUN_ENDS})
	e := stream[*agentv1.FollowResponse](t, s, err)
	e.seq = after
	return e
}

// next returns the next event, which must follow the one before.
func (e *events) next() *agentv1.Event {
	e.t.Helper()
	got, err := e.recv()
	if err != nil {
		e.t.Fatal(err)
	}
	if e.seq++; got.GetSeq() != e.seq {
		e.t.Fatalf("event %d came where %d was due", got.GetSeq(), e.seq)
	}
	return got
}

// text reads until this much text has come.
func (e *events) text(want string) {
	e.t.Helper()
	for got := ""; got != want; {
		event := e.next()
		if event.GetText() == nil || len(got) > len(want) {
			e.t.Fatalf("%q, then %v; want %q", got, event, want)
		}
		got += event.GetText().GetContent()
	}
}

// end reads to the end, and returns the run's last words.
func (e *events) end() *agentv1.Complete {
	e.t.Helper()
	var last *agentv1.Complete
	for {
		got, err := e.recv()
		if errors.Is(err, io.EOF) {
			return last
		}
		if err != nil {
			e.t.Fatal(err)
		}
		if e.seq++; got.GetSeq() != e.seq {
			e.t.Fatalf("event %d came where %d was due", got.GetSeq(), e.seq)
		}
		last = got.GetComplete()
	}
}

// A whole run with the model of the process, over gRPC, and what is kept of it.
func TestRun(t *testing.T) {
	t.Parallel()
	logs := &lockedBuffer{}
	cfg := configuration(t)
	cfg.Gateways = []string{serve(t).addr}
	a, _ := run(t, cfg, slog.New(slog.NewJSONHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})))
	c := agentv1.NewAgentServiceClient(dial(t, a.GRPCAddr()))
	words := 0
	e := invoke(t, t.Context(), c, "say 20 words")
	for {
		event := e.next()
		if event.GetText() != nil {
			words += len(strings.Fields(event.GetText().GetContent()))
		}
		if done := event.GetComplete(); done != nil {
			if done.GetFinishReason() != "stop" || words < 20 {
				t.Errorf("%d words, %v", words, done)
			}
			break
		}
	}
	session, err := c.GetSession(ana(t.Context()), &agentv1.GetSessionRequest{SessionId: "s"})
	if err != nil || session.GetSession().GetStatus() != "idle" || session.GetSession().GetFinishReason() != "stop" {
		t.Errorf("%v, %v", session, err)
	}
	if again := follow(t, t.Context(), c, 0); again.end().GetFinishReason() != "stop" || again.seq != e.seq {
		t.Errorf("%d of %d events again", again.seq, e.seq)
	}
	messages, err := c.ListMessages(ana(t.Context()), &agentv1.ListMessagesRequest{SessionId: "s"})
	if err != nil || len(messages.GetMessages()) != 2 {
		t.Errorf("%v, %v", messages, err)
	}
	for _, secret := range []string{"say 20 words", messages.GetMessages()[1].GetContent()} {
		if strings.Contains(logs.String(), secret) {
			t.Errorf("the log has what was said: %s", secret)
		}
	}
	if _, body := admin(t, a, "/readyz"); strings.Contains(body, "store") {
		t.Errorf("readyz: %s", body)
	}
	if code, _ := admin(t, a, "/livez"); code != http.StatusOK {
		t.Errorf("livez: %d", code)
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestFollowOnAnotherPod(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, cfg app.Config, model *modeltest.Server) {
		gate := make(chan struct{})
		model.Script(modeltest.Say("one ", "two ").Wait(gate).Then(modeltest.Say("three")))
		here, _ := pod(t, cfg)
		there, _ := pod(t, cfg)
		one := invoke(t, t.Context(), here, "count")
		one.text("one two ")
		two := follow(t, t.Context(), there, 0)
		two.text("one two ")
		close(gate)
		one.text("three")
		two.text("three")
		if got := two.end().GetFinishReason(); got != "stop" {
			t.Error(got)
		}
		one.end()
		if one.seq != two.seq {
			t.Errorf("%d and %d events", one.seq, two.seq)
		}
		// Nobody else's.
		bob, err := there.Follow(auth.OnBehalf(t.Context(), "bob"), &agentv1.FollowRequest{SessionId: "s"})
		if err == nil {
			_, err = bob.Recv()
		}
		if !errors.Is(errs.FromGRPC(err), errs.SessionNotFound) {
			t.Errorf("bob follows: %v", err)
		}
	})
}

// The pod of the run hears of the cancel at once: it would not renew its lease for minutes.
func TestCancelFromAnotherPod(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, cfg app.Config, model *modeltest.Server) {
		model.Script(modeltest.Say("one ").Stall(1))
		cfg.LeaseTTL = time.Hour
		here, _ := pod(t, cfg)
		there, _ := pod(t, cfg)
		e := invoke(t, t.Context(), here, "count")
		e.text("one ")
		got, err := there.CancelRun(ana(t.Context()), &agentv1.CancelRunRequest{SessionId: "s"})
		if err != nil || !got.GetCancelled() {
			t.Fatalf("%v, %v", got, err)
		}
		if got := e.end().GetFinishReason(); got != "cancelled" {
			t.Error(got)
		}
	})
}

// A pod that is killed in the middle of an answer leaves its run to another, which begins the answer again and says so.
func TestRunOfAKilledPod(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, cfg app.Config, model *modeltest.Server) {
		model.Script(modeltest.Say("half ").Stall(1), modeltest.Say("half whole"))
		victim := startProcess(t, cfg)
		there, _ := pod(t, cfg)
		one := invoke(t, t.Context(), agentv1.NewAgentServiceClient(dial(t, victim.addr)), "count")
		one.text("half ")
		two := follow(t, t.Context(), there, 0)
		first := two.next()
		victim.kill()
		again := two.next()
		if again.GetText().GetContent() != "whole" || again.GetText().GetMessageId() != first.GetText().GetMessageId() {
			t.Errorf("%v, then %v", first, again)
		}
		if got := two.end(); got.GetFinishReason() != "stop" || got.GetContent() != "half whole" {
			t.Error(got)
		}
	})
}

// A pod that is told to stop ends its streams so that they are followed elsewhere, and its runs go on there at once.
func TestDrain(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, cfg app.Config, model *modeltest.Server) {
		gate := make(chan struct{})
		model.Script(modeltest.Say("half ").Stall(1), modeltest.Say("half ").Wait(gate).Then(modeltest.Say("whole")))
		cfg.LeaseTTL = time.Hour // it is released, not waited for
		here, stop := pod(t, cfg)
		there, _ := pod(t, cfg)
		one := invoke(t, t.Context(), here, "count")
		one.text("half ")
		stopped := make(chan struct{})
		go func() { defer close(stopped); stop() }()
		_, err := one.recv()
		for err == nil {
			one.seq++
			_, err = one.recv()
		}
		if !errors.Is(errs.FromGRPC(err), errs.AgentUnavailable) {
			t.Errorf("the stream ended with %v", err)
		}
		close(gate)
		two := follow(t, t.Context(), there, one.seq)
		if got := two.end(); got.GetFinishReason() != "stop" || got.GetContent() != "half whole" {
			t.Error(got)
		}
		<-stopped
	})
}

// One run at a time, whichever pods are asked.
func TestOneRunAtATime(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, cfg app.Config, model *modeltest.Server) {
		gate := make(chan struct{})
		model.Otherwise(modeltest.Say("one ").Wait(gate).Then(modeltest.Say("two")))
		var clients []agentv1.AgentServiceClient
		for range 2 {
			c, _ := pod(t, cfg)
			clients = append(clients, c)
		}
		results := make(chan error, 8)
		for i := range cap(results) {
			go func() {
				s, err := clients[i%2].Invoke(ana(t.Context()), &agentv1.InvokeRequest{Message: "count", SessionId: "s"})
				if err == nil {
					_, err = s.Recv()
				}
				results <- err
			}()
		}
		began := 0
		for range cap(results) {
			switch err := <-results; {
			case err == nil:
				began++
			case !errors.Is(errs.FromGRPC(err), errs.RunActive):
				t.Error(err)
			}
		}
		close(gate)
		if began != 1 {
			t.Errorf("%d runs began", began)
		}
		follow(t, t.Context(), clients[0], 0).end()
	})
}
