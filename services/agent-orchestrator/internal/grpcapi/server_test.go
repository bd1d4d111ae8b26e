package grpcapi_test

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/grpcapi"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/live"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/workspace"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// backend is what a server asks: one session of ana's, whose events the test makes.
type backend struct {
	hub *live.Hub

	mu        sync.Mutex
	session   store.Session
	events    []*agentv1.Event
	invoked   []*agentv1.InvokeRequest
	cancelled int
	refuse    error
	files     map[string][]byte
	settings  store.ApprovalSettings

	long int // how many messages of 1 MiB the session has; 0 for one that is short
}

func (w *backend) Invoke(_ context.Context, user ids.UserID, req *agentv1.InvokeRequest) (agent.Started, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse != nil {
		return agent.Started{}, w.refuse
	}
	w.invoked = append(w.invoked, req)
	w.session = store.Session{
		Ref: store.Ref{User: user, Session: ids.SessionID(req.GetSessionId())}, Status: store.Running, Run: "run_1", LastSeq: int64(len(w.events)),
	}
	return agent.Started{Ref: w.session.Ref, Run: "run_1", After: w.session.LastSeq}, nil
}

func (w *backend) Resume(context.Context, ids.UserID, *agentv1.ResumeRequest) (agent.Started, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return agent.Started{Ref: w.session.Ref, Run: "run_1", After: w.session.LastSeq}, w.refuse
}

func (w *backend) Cancel(ctx context.Context, ref store.Ref) (bool, error) {
	if _, err := w.Session(ctx, ref); err != nil {
		return false, err
	}
	w.mu.Lock()
	w.cancelled++
	active := w.session.Status != store.Idle
	w.mu.Unlock()
	if active {
		w.say(&agentv1.Event{Kind: &agentv1.Event_Complete{Complete: &agentv1.Complete{FinishReason: "cancelled"}}})
	}
	return active, nil
}

func (w *backend) Session(_ context.Context, ref store.Ref) (store.Session, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ref != w.session.Ref {
		return store.Session{}, errs.New(errs.SessionNotFound, "no such session")
	}
	return w.session, nil
}

func (w *backend) Sessions(context.Context, ids.UserID, int, string) ([]store.Session, string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return []store.Session{w.session}, "next", nil
}

func (w *backend) Messages(_ context.Context, _ store.Ref, _ string, after, limit int) ([]store.Message, error) {
	if w.long > 0 {
		var out []store.Message
		for i := after + 1; i <= w.long && len(out) < limit; i++ {
			out = append(out, store.Message{Index: i, Role: "user", Content: strings.Repeat("x", 1<<20)})
		}
		return out, nil
	}
	return []store.Message{{Index: 3, Role: "assistant", Calls: []store.MessageCall{{ID: "c", Name: "click", Args: `{`}}}}, nil
}

func (w *backend) Delete(context.Context, store.Ref) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.session, w.events = store.Session{}, nil
	return nil
}

func (w *backend) Events(ctx context.Context, ref store.Ref, after int64, limit int) ([]*agentv1.Event, error) {
	if _, err := w.Session(ctx, ref); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.events[min(int(after), len(w.events)):], nil
}

func (w *backend) ApprovalSettings(context.Context, ids.UserID) (store.ApprovalSettings, error) {
	return w.settings, nil
}

func (w *backend) SetApprovalSettings(_ context.Context, _ ids.UserID, to store.ApprovalSettings) error {
	w.settings = to
	return nil
}

// Resolve implements [grpcapi.Allowlist]: every name is that of a node's tool.
func (w *backend) Resolve(
	_ context.Context, _ ids.UserID, _ []store.AllowedTool, names []string, wanted []store.AllowedTool,
) ([]store.AllowedTool, error) {
	for _, name := range names {
		wanted = append(wanted, store.AllowedTool{Tool: name}, store.AllowedTool{Layer: "connector", Source: "desk", Tool: name, Fingerprint: "f"})
	}
	return wanted, nil
}

func (w *backend) Get(_ context.Context, _ ids.UserID, path string) (workspace.File, []byte, error) {
	data, ok := w.files[path]
	if !ok {
		return workspace.File{}, nil, errs.New(errs.FileNotFound, "no such file")
	}
	return workspace.File{}, data, nil
}

// say keeps an event, then publishes it.
func (w *backend) say(e *agentv1.Event) {
	w.mu.Lock()
	e.Seq = int64(len(w.events) + 1)
	w.events = append(w.events, e)
	w.session.LastSeq = e.GetSeq()
	if e.GetComplete() != nil {
		w.session.Status = store.Idle
	}
	ref := w.session.Ref
	w.mu.Unlock()
	w.hub.Publish(ref, []*agentv1.Event{e})
}

// Tell hears of changed settings.
func (w *backend) Tell(context.Context, ids.UserID) {}

func (w *backend) cancels() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cancelled
}

type fixture struct {
	*backend
	client agentv1.AgentServiceClient
	server *grpcapi.Server
}

func serve(t *testing.T) *fixture {
	t.Helper()
	w := &backend{files: map[string][]byte{}}
	hub, err := live.New(live.Options{Store: w})
	if err != nil {
		t.Fatal(err)
	}
	w.hub = hub
	api, err := grpcapi.New(grpcapi.Options{Engine: w, Sessions: w, Settings: w, Allowlist: w, Approvals: w, Files: w, Live: hub, Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{backend: w, server: api}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, served := grpc.NewServer(grpcapi.ServerOptions(obs.OrDiscard(nil))...), make(chan error, 1)
	agentv1.RegisterAgentServiceServer(server, f.server)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(2*grpcapi.MaxEventData)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		hub.Close(context.WithoutCancel(t.Context()))
		server.Stop()
		if err := <-served; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			t.Error(err)
		}
	})
	f.client = agentv1.NewAgentServiceClient(conn)
	return f
}

func ana(ctx context.Context) context.Context { return auth.OnBehalf(ctx, "ana") }

func text(content string) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_Text{Text: &agentv1.Text{Content: content}}}
}

func complete(reason string) *agentv1.Event {
	return &agentv1.Event{Kind: &agentv1.Event_Complete{Complete: &agentv1.Complete{FinishReason: reason}}}
}

// begin invokes, and returns once the run has begun.
func (f *fixture) begin(t *testing.T, ctx context.Context, req *agentv1.InvokeRequest) grpc.ServerStreamingClient[agentv1.InvokeResponse] {
	t.Helper()
	stream, err := f.client.Invoke(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, 10*time.Second, func() bool { f.mu.Lock(); defer f.mu.Unlock(); return len(f.invoked) > 0 }, "the run has begun")
	return stream
}

func TestInvokeStreams(t *testing.T) {
	t.Parallel()
	f := serve(t)
	stream := f.begin(t, ana(t.Context()), &agentv1.InvokeRequest{Message: "hello"})
	if session := f.invoked[0].GetSessionId(); len(session) != len("session_")+12 || !strings.HasPrefix(session, "session_") {
		t.Errorf("session %q", session)
	}
	for _, word := range []string{"a", "b"} {
		f.say(text(word))
		if got, err := stream.Recv(); err != nil || got.GetEvent().GetText().GetContent() != word {
			t.Fatalf("%v, %v", got, err)
		}
	}
	f.say(complete("stop"))
	if got, err := stream.Recv(); err != nil || got.GetEvent().GetComplete().GetFinishReason() != "stop" {
		t.Fatalf("%v, %v", got, err)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// What a request says wrong is refused with the field's name, and nothing begins.
func TestInvokeRefuses(t *testing.T) {
	t.Parallel()
	f := serve(t)
	long := strings.Repeat("x", 300)
	temperature := func(v float64) *agentv1.ModelConfig { return &agentv1.ModelConfig{Temperature: &v} }
	server := func(m *agentv1.McpServer) []*agentv1.ToolSource {
		return []*agentv1.ToolSource{{Source: &agentv1.ToolSource_Mcp{Mcp: m}}}
	}
	grant := func(g *agentv1.OAuthGrant) []*agentv1.ToolSource {
		return []*agentv1.ToolSource{{Source: &agentv1.ToolSource_Oauth{Oauth: g}}}
	}
	good := &agentv1.McpServer{Name: "a", BaseUrl: "https://mcp.example/"}
	for want, reqs := range map[string][]*agentv1.InvokeRequest{
		"message":                  {{}, {Message: " \n"}, {Message: strings.Repeat("x", 1<<20+1)}},
		"session_id":               {{SessionId: long}, {SessionId: "a\nb"}},
		"mode":                     {{Mode: "Agent"}},
		"max_steps":                {{MaxSteps: -1}, {MaxSteps: 501}},
		"preferred_node_id":        {{PreferredNodeId: "a\x00"}},
		"idempotency_key":          {{IdempotencyKey: long}},
		"on_disconnect":            {{OnDisconnect: 7}},
		"chat_history[1].role":     {{ChatHistory: []*agentv1.ChatMessage{{Role: "user"}, {Role: "system"}}}},
		"llm_config.baseUrl":       {{Model: &agentv1.ModelConfig{BaseUrl: "https://x/" + strings.Repeat("x", 8<<10)}}, {Model: &agentv1.ModelConfig{BaseUrl: "ftp://x"}}, {Model: &agentv1.ModelConfig{BaseUrl: "https://u:topsecret@x"}}, {Model: &agentv1.ModelConfig{BaseUrl: "model"}}},
		"llm_config.temperature":   {{Model: temperature(-0.1)}, {Model: temperature(2.1)}, {Model: temperature(math.NaN())}},
		"llm_config.apiKey":        {{Model: &agentv1.ModelConfig{ApiKey: "topsecret\n"}}},
		"llm_config.contextWindow": {{Model: &agentv1.ModelConfig{ContextWindow: -1}}},
		"tool_interrupt_config":    {{ToolInterruptConfig: map[string]*agentv1.InterruptRule{"": {}}}},
		"tools[0].type":            {{Tools: []*agentv1.ToolSource{{}}}},
		"tools[1]":                 {{Tools: append(server(good), server(good)...)}},
		"tools[0].name":            {{Tools: server(&agentv1.McpServer{BaseUrl: "https://x"})}, {Tools: grant(&agentv1.OAuthGrant{Provider: "GitHub", AccessToken: "t"})}},
		"tools[0].base_url":        {{Tools: server(&agentv1.McpServer{Name: "a"})}},
		"tools[0].transport_type":  {{Tools: server(&agentv1.McpServer{Name: "a", TransportType: "ws"})}},
		"tools[0].command":         {{Tools: server(&agentv1.McpServer{Name: "a", TransportType: "stdio"})}},
		"tools[0].headers":         {{Tools: server(&agentv1.McpServer{Name: "a", BaseUrl: "https://x", Headers: map[string]string{"a": "topsecret\r\n"}})}},
		"tools[0] has":             {{Tools: server(&agentv1.McpServer{Name: "a", BaseUrl: "https://x", Args: []string{strings.Repeat("x", 64<<10)}})}},
		"tools[0].access_token":    {{Tools: grant(&agentv1.OAuthGrant{Provider: "github"})}},
	} {
		for i, req := range reqs {
			if want != "message" {
				req.Message = "hello"
			}
			stream, err := f.client.Invoke(ana(t.Context()), req)
			if err == nil {
				_, err = stream.Recv()
			}
			if status.Code(err) != codes.InvalidArgument || !errors.Is(errs.FromGRPC(err), errs.InvalidArgument) ||
				!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "topsecret") {
				t.Errorf("%s %d: %v", want, i, err)
			}
		}
	}
	stream, err := f.client.Invoke(t.Context(), &agentv1.InvokeRequest{Message: "hello"})
	if err == nil {
		_, err = stream.Recv()
	}
	if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "user_id") {
		t.Errorf("for nobody: %v", err)
	}
	if len(f.invoked) != 0 {
		t.Errorf("%d runs began", len(f.invoked))
	}
}

func TestErrorsOfTheEngine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  error
		code codes.Code
		want errs.Reason
	}{
		"refused":  {errs.New(errs.RunActive, "busy"), codes.Aborted, errs.RunActive},
		"internal": {errors.New("disk /var/secret is full"), codes.Internal, errs.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := serve(t)
			f.refuse = tt.err
			stream, err := f.client.Invoke(ana(t.Context()), &agentv1.InvokeRequest{Message: "hello"})
			if err == nil {
				_, err = stream.Recv()
			}
			if status.Code(err) != tt.code || !errors.Is(errs.FromGRPC(err), tt.want) || strings.Contains(err.Error(), "secret") {
				t.Error(err)
			}
		})
	}
}

func TestDisconnect(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		then    agentv1.InvokeRequest_OnDisconnect
		cancels int
	}{
		"by default": {0, 0},
		"continue":   {agentv1.InvokeRequest_ON_DISCONNECT_CONTINUE, 0},
		"cancel":     {agentv1.InvokeRequest_ON_DISCONNECT_CANCEL, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := serve(t)
			ctx, leave := context.WithCancel(t.Context())
			stream := f.begin(t, ana(ctx), &agentv1.InvokeRequest{Message: "hello", SessionId: "s", OnDisconnect: tt.then})
			f.say(text("a"))
			if _, err := stream.Recv(); err != nil {
				t.Fatal(err)
			}
			other, err := f.client.Follow(ana(t.Context()), &agentv1.FollowRequest{SessionId: "s", Until: live.RunEnds})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := other.Recv(); err != nil {
				t.Fatal(err)
			}
			leave()
			if tt.cancels == 0 {
				f.say(complete("stop"))
			}
			if got, err := other.Recv(); err != nil || (got.GetEvent().GetComplete().GetFinishReason() == "cancelled") != (tt.cancels > 0) {
				t.Errorf("%v, %v", got, err)
			}
			if f.cancels() != tt.cancels {
				t.Errorf("%d cancels", f.cancels())
			}
		})
	}
}

func TestFollowAndCancel(t *testing.T) {
	t.Parallel()
	f := serve(t)
	f.begin(t, ana(t.Context()), &agentv1.InvokeRequest{Message: "hello", SessionId: "s"})
	for user, session := range map[ids.UserID]string{"ana": "other", "bob": "s"} {
		stream, err := f.client.Follow(auth.OnBehalf(t.Context(), user), &agentv1.FollowRequest{SessionId: session})
		if err == nil {
			_, err = stream.Recv()
		}
		if !errors.Is(errs.FromGRPC(err), errs.SessionNotFound) {
			t.Errorf("%s follows %s: %v", user, session, err)
		}
	}
	if _, err := f.client.CancelRun(auth.OnBehalf(t.Context(), "bob"), &agentv1.CancelRunRequest{SessionId: "s"}); status.Code(err) != codes.NotFound {
		t.Errorf("bob cancels ana's run: %v", err)
	}
	for _, want := range []bool{true, false} {
		got, err := f.client.CancelRun(ana(t.Context()), &agentv1.CancelRunRequest{SessionId: "s"})
		if err != nil || got.GetCancelled() != want || !got.GetSuccess() {
			t.Errorf("%v, %v", got, err)
		}
	}
	if stream, err := f.client.Follow(ana(t.Context()), &agentv1.FollowRequest{SessionId: "s", AfterSeq: -1}); err == nil {
		if _, err = stream.Recv(); status.Code(err) != codes.InvalidArgument {
			t.Error(err)
		}
	}
}

// The bytes of artifacts are there in what is sent, up to a bound, and not in what is kept.
func TestArtifactsAreFilledIn(t *testing.T) {
	t.Parallel()
	f := serve(t)
	f.files = map[string][]byte{"a.png": []byte("image"), "big": make([]byte, 10<<20), "huge": make([]byte, 10<<20+1), "grew": make([]byte, 11<<20)}
	stream := f.begin(t, ana(t.Context()), &agentv1.InvokeRequest{Message: "hello"})
	result := &agentv1.ToolCallResult{}
	for name, size := range map[string]int64{"a.png": 5, "gone": 3, "huge": 10<<20 + 1, "grew": 1} {
		result.Artifacts = append(result.Artifacts, &agentv1.Artifact{FilePath: name, Size: size})
	}
	for range 3 {
		result.Artifacts = append(result.Artifacts, &agentv1.Artifact{FilePath: "big", Size: 10 << 20})
	}
	f.say(&agentv1.Event{Kind: &agentv1.Event_ToolCallResult{ToolCallResult: result}})
	got, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	sent := map[string]int{}
	for _, a := range got.GetEvent().GetToolCallResult().GetArtifacts() {
		sent[a.GetFilePath()] += len(a.GetData())
	}
	if sent["a.png"] != 5 || sent["gone"] != 0 || sent["huge"] != 0 || sent["grew"] != 0 || sent["big"] != 10<<20 {
		t.Errorf("%v", sent)
	}
	for _, a := range f.events[0].GetToolCallResult().GetArtifacts() {
		if len(a.GetData()) > 0 {
			t.Errorf("%s is kept in the event", a.GetFilePath())
		}
	}
}

func TestDrain(t *testing.T) {
	t.Parallel()
	f := serve(t)
	stream := f.begin(t, ana(t.Context()), &agentv1.InvokeRequest{Message: "hello", SessionId: "s", OnDisconnect: agentv1.InvokeRequest_ON_DISCONNECT_CANCEL})
	f.server.Drain()
	again, err := f.client.Invoke(ana(t.Context()), &agentv1.InvokeRequest{Message: "hello"})
	if err == nil {
		_, err = again.Recv()
	}
	if !errors.Is(errs.FromGRPC(err), errs.AgentUnavailable) {
		t.Errorf("invoke: %v", err)
	}
	resumed, err := f.client.Resume(ana(t.Context()), &agentv1.ResumeRequest{SessionId: "s"})
	if err == nil {
		_, err = resumed.Recv()
	}
	if !errors.Is(errs.FromGRPC(err), errs.AgentUnavailable) {
		t.Errorf("resume: %v", err)
	}
	f.hub.Drain()
	if _, err = stream.Recv(); !errors.Is(errs.FromGRPC(err), errs.AgentUnavailable) || f.cancels() != 0 {
		t.Errorf("%v, %d cancels", err, f.cancels())
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	f := serve(t)
	stream := f.begin(t, ana(t.Context()), &agentv1.InvokeRequest{Message: "hello", SessionId: "s"})
	f.say(text("a"))
	ctx := ana(t.Context())
	if got, err := f.client.GetSession(ctx, &agentv1.GetSessionRequest{SessionId: "s"}); err != nil || got.GetSession().GetStatus() != "running" || got.GetSession().GetLastSeq() != 1 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := f.client.ListSessions(ctx, &agentv1.ListSessionsRequest{}); err != nil || len(got.GetSessions()) != 1 || got.GetNextCursor() != "next" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := f.client.ListSessions(ctx, &agentv1.ListSessionsRequest{Limit: 201}); status.Code(err) != codes.InvalidArgument {
		t.Error(err)
	}
	if got, err := f.client.ListMessages(ctx, &agentv1.ListMessagesRequest{SessionId: "s"}); err != nil || got.GetMessages()[0].GetToolCalls()[0].GetToolArgs() != "{" {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := f.client.ListMessages(ctx, &agentv1.ListMessagesRequest{SessionId: "s", After: -1}); status.Code(err) != codes.InvalidArgument {
		t.Error(err)
	}
	if got, err := f.client.DeleteSession(ctx, &agentv1.DeleteSessionRequest{SessionId: "s"}); err != nil || !got.GetSuccess() || f.cancels() != 1 {
		t.Errorf("%v, %v", got, err)
	}
	var last *agentv1.Event
	for {
		got, err := stream.Recv()
		if err != nil {
			break
		}
		last = got.GetEvent()
	}
	if last.GetComplete().GetFinishReason() != "cancelled" {
		t.Errorf("the stream's last event: %v", last)
	}
	if _, err := f.client.GetSession(ctx, &agentv1.GetSessionRequest{SessionId: "s"}); status.Code(err) != codes.NotFound {
		t.Error(err)
	}
}

// A conversation may be longer than one answer can be.
func TestLongConversation(t *testing.T) {
	t.Parallel()
	f := serve(t)
	f.long = 40
	seen := int32(0)
	for range 10 {
		got, err := f.client.ListMessages(ana(t.Context()), &agentv1.ListMessagesRequest{SessionId: "s", After: seen}, grpc.MaxCallRecvMsgSize(20<<20))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range got.GetMessages() {
			if seen++; m.GetIndex() != seen {
				t.Fatalf("message %d follows %d", m.GetIndex(), seen-1)
			}
		}
	}
	if seen != 40 {
		t.Errorf("%d messages", seen)
	}
	got, err := f.client.ListMessages(ana(t.Context()), &agentv1.ListMessagesRequest{SessionId: "s", After: 37, Limit: 2}, grpc.MaxCallRecvMsgSize(20<<20))
	if err != nil || len(got.GetMessages()) != 2 {
		t.Errorf("%d messages, %v", len(got.GetMessages()), err)
	}
}

func TestApprovalSettings(t *testing.T) {
	t.Parallel()
	f := serve(t)
	ctx := ana(t.Context())
	for name, s := range map[string]*agentv1.ApprovalSettings{
		"mode":         {Mode: "yolo"},
		"allowlist":    {Allowlist: make([]string, 1001)},
		"allowlist[1]": {Allowlist: []string{"a", strings.Repeat("x", 257)}},
		"allowlist[0]": {Allowlist: []string{""}},
	} {
		if _, err := f.client.UpdateApprovalSettings(ctx, &agentv1.UpdateApprovalSettingsRequest{Settings: s}); status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, entry := range map[string]*agentv1.AllowedTool{
		"the name of a tool": {Layer: "mcp", Source: "notes"},
		"layer must be":      {Layer: "moon", Source: "notes", Tool: "find"},
		"source":             {Layer: "mcp", Tool: "find"},
		"source must":        {Layer: "builtin", Source: "notes", Tool: "find"},
		"fingerprint":        {Layer: "mcp", Source: "notes", Tool: "find", Fingerprint: strings.Repeat("f", 129)},
	} {
		s := &agentv1.ApprovalSettings{Allowed: []*agentv1.AllowedTool{{Layer: "oauth", Source: "github", Tool: "find"}, entry}}
		_, err := f.client.UpdateApprovalSettings(ctx, &agentv1.UpdateApprovalSettingsRequest{Settings: s})
		if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "allowed[1]: ") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	want := &agentv1.ApprovalSettings{
		Mode: "use_allowlist", Allowlist: []string{"click"}, Allowed: []*agentv1.AllowedTool{{Layer: "mcp", Source: "notes", Tool: "find"}},
	}
	if _, err := f.client.UpdateApprovalSettings(ctx, &agentv1.UpdateApprovalSettingsRequest{Settings: want}); err != nil {
		t.Fatal(err)
	}
	want.Allowlist = []string{"click", "find"}
	want.Allowed = append(want.Allowed, &agentv1.AllowedTool{Layer: "connector", Source: "desk", Tool: "click", Fingerprint: "f"})
	if got, err := f.client.GetApprovalSettings(ctx, &agentv1.GetApprovalSettingsRequest{}); err != nil || !proto.Equal(got.GetSettings(), want) {
		t.Errorf("%v, %v", got, err)
	}
}
