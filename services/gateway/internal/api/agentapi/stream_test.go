package agentapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/agentapi"
)

func text(seq int64, content string) *agentv1.Event {
	return &agentv1.Event{Seq: seq, SessionId: "s", RunId: "r", Kind: &agentv1.Event_Text{Text: &agentv1.Text{Content: content}}}
}

func complete(seq int64, reason string) *agentv1.Event {
	return &agentv1.Event{Seq: seq, SessionId: "s", RunId: "r", Kind: &agentv1.Event_Complete{Complete: &agentv1.Complete{FinishReason: reason}}}
}

func say(s grpc.ServerStreamingServer[agentv1.InvokeResponse], events ...*agentv1.Event) error {
	for _, e := range events {
		if err := s.Send(&agentv1.InvokeResponse{Event: e}); err != nil {
			return err
		}
	}
	return nil
}

func told(s grpc.ServerStreamingServer[agentv1.FollowResponse], events ...*agentv1.Event) error {
	for _, e := range events {
		if err := s.Send(&agentv1.FollowResponse{Event: e}); err != nil {
			return err
		}
	}
	return nil
}

// wantSeqs reads a stream to its end: it must hold exactly the events of these numbers, in order, each with its id.
func wantSeqs(t *testing.T, resp answer, seqs ...int64) {
	t.Helper()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		body, _ := io.ReadAll(resp.Body)
		t.Fatalf("%s, %s: %s", resp.Status, resp.Header.Get("Content-Type"), body)
	}
	lines := bufio.NewScanner(resp.Body)
	var got []int64
	id := ""
	for lines.Scan() {
		if after, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			id = after
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e struct{ Seq int64 }
		if err := json.Unmarshal([]byte(data), &e); err != nil || id != strconv.FormatInt(e.Seq, 10) {
			t.Errorf("event %s under id %s: %v", data, id, err)
		}
		got = append(got, e.Seq)
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(seqs) {
		t.Errorf("events %v, want %v", got, seqs)
	}
}

const hello = `{"message":"hello","session_id":"s"}`

func TestStream(t *testing.T) {
	t.Parallel()
	asked := make(chan *agentv1.InvokeRequest, 1)
	p := startPod(t, &script{invoke: func(_ *pod, req *agentv1.InvokeRequest, s grpc.ServerStreamingServer[agentv1.InvokeResponse]) error {
		asked <- req
		return say(s, text(1, "a"), text(2, "b"), complete(3, "stop"))
	}})
	g := startGateway(t, nil, p)
	resp := g.do(t, "POST", "/api/agent/invoke", hello)
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || !strings.HasPrefix(string(body), "retry: 2000\n\nid: 1\ndata: {\"type\":\"text\",") {
		t.Errorf("%v: %s", err, body)
	}
	if req := <-asked; req.GetMessage() != "hello" || req.GetSessionId() != "s" || req.GetIdempotencyKey() == "" {
		t.Errorf("it asked %v", req)
	}
}

// A run that says nothing for long is told from one that is gone.
func TestHeartbeat(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	p := startPod(t, &script{invoke: func(_ *pod, _ *agentv1.InvokeRequest, s grpc.ServerStreamingServer[agentv1.InvokeResponse]) error {
		if err := s.SendHeader(metadata.MD{}); err != nil { // accepted; the model thinks
			return err
		}
		<-goOn
		return say(s, complete(1, "stop"))
	}})
	g := startGateway(t, func(_ *auth.Config, c *agentapi.Config) { c.Heartbeat = 5 * time.Millisecond }, p)
	resp := g.do(t, "POST", "/api/agent/invoke", hello)
	lines := bufio.NewScanner(resp.Body)
	for pings := 0; pings < 3 && lines.Scan(); {
		switch line := lines.Text(); line {
		case ": ping":
			pings++
		case "", "retry: 2000":
		default:
			t.Fatalf("line %q", line)
		}
	}
	close(goOn)
	rest, err := io.ReadAll(resp.Body)
	if err != nil || lines.Err() != nil {
		t.Error(err, lines.Err())
	}
	_ = rest // whether it is here or in the scanner's buffer
}

// The orchestrator dies before it has said anything: the request goes to the other one under the same key.
func TestLostBeforeTheFirstEvent(t *testing.T) {
	t.Parallel()
	var keys [2]string
	var asked atomic.Int32
	s := &script{invoke: func(p *pod, req *agentv1.InvokeRequest, s grpc.ServerStreamingServer[agentv1.InvokeResponse]) error {
		n := asked.Add(1)
		keys[min(n, 2)-1] = req.GetIdempotencyKey()
		if n == 1 {
			return p.die(s)
		}
		return say(s, text(1, "a"), complete(2, "stop"))
	}}
	g := startGateway(t, nil, startPod(t, s), startPod(t, s))
	wantSeqs(t, g.do(t, "POST", "/api/agent/invoke", hello, "Idempotency-Key", "mine"), 1, 2)
	if keys != [2]string{"mine", "mine"} {
		t.Errorf("keys %q", keys)
	}
}

// It dies in the middle: the other one goes on behind the last event, in the same stream to the client. The one that takes
// over repeats an event, and is lost too.
func TestLostAfterTheFirstEvent(t *testing.T) {
	t.Parallel()
	var followed atomic.Int32
	s := &script{
		invoke: func(p *pod, _ *agentv1.InvokeRequest, s grpc.ServerStreamingServer[agentv1.InvokeResponse]) error {
			if err := say(s, text(7, "a"), text(8, "b")); err != nil {
				return err
			}
			return errs.New(errs.AgentUnavailable, "it stops")
		},
		follow: func(p *pod, req *agentv1.FollowRequest, s grpc.ServerStreamingServer[agentv1.FollowResponse]) error {
			if req.GetSessionId() != "s" || req.GetUntil() != agentv1.FollowRequest_UNTIL_RUN_ENDS {
				t.Errorf("it follows %v", req)
			}
			switch n := followed.Add(1); {
			case n == 1 && req.GetAfterSeq() == 8:
				_ = told(s, text(8, "b"), text(9, "c"))
				return p.die(s)
			case n > 1 && req.GetAfterSeq() >= 8:
				return told(s, []*agentv1.Event{text(9, "c"), text(10, "d"), complete(11, "stop")}[req.GetAfterSeq()-8:]...)
			}
			t.Errorf("it follows %v", req)
			return nil
		},
	}
	g := startGateway(t, nil, startPod(t, s), startPod(t, s))
	wantSeqs(t, g.do(t, "POST", "/api/agent/invoke", hello), 7, 8, 9, 10, 11)
}

// read reads a stream up to a line.
func read(t *testing.T, lines *bufio.Scanner, line string) {
	t.Helper()
	for lines.Scan() {
		if lines.Text() == line {
			return
		}
	}
	t.Fatalf("it ended before %q: %v", line, lines.Err())
}

// Nobody is there any more: the stream ends, and says what to do.
func TestLostForGood(t *testing.T) {
	t.Parallel()
	heard := make(chan struct{})
	p := startPod(t, &script{invoke: func(p *pod, _ *agentv1.InvokeRequest, s grpc.ServerStreamingServer[agentv1.InvokeResponse]) error {
		_ = say(s, text(1, "a"))
		<-heard
		return p.die(s)
	}})
	g := startGateway(t, func(_ *auth.Config, c *agentapi.Config) {
		c.Patience, c.Admission = 50*time.Millisecond, 50*time.Millisecond
	}, p)
	lines := bufio.NewScanner(g.do(t, "POST", "/api/agent/invoke", hello).Body)
	read(t, lines, "id: 1")
	close(heard)
	read(t, lines, ": the rest of the events cannot be had right now, come back with Last-Event-ID")
	if lines.Scan(); lines.Scan() {
		t.Errorf("it goes on: %s", lines.Text())
	}
	wantProblem(t, g.do(t, "POST", "/api/agent/invoke", hello), http.StatusServiceUnavailable, "AGENT_UNAVAILABLE")
	wantProblem(t, g.do(t, "GET", "/api/agent/sessions", ""), http.StatusServiceUnavailable, "AGENT_UNAVAILABLE")
}

// A resume whose orchestrator died after it had taken the decisions is not answered with a conflict.
func TestResumeIsTakenOnce(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := &script{
		session: func(context.Context, *agentv1.GetSessionRequest) (*agentv1.GetSessionResponse, error) {
			return &agentv1.GetSessionResponse{Session: &agentv1.Session{SessionId: "s", LastSeq: 4}}, nil
		},
		resume: func(p *pod, req *agentv1.ResumeRequest, s grpc.ServerStreamingServer[agentv1.ResumeResponse]) error {
			d := req.GetToolCallResults()
			if len(d) != 1 || d[0].GetDecision() != "modified" || string(d[0].GetToolArgsJson()) != `{"a":1}` || d[0].GetDigest() != "x" {
				t.Errorf("it resumes with %v", d)
			}
			if asked.Add(1) == 1 {
				return p.die(s)
			}
			return errs.New(errs.AlreadyDecided, "c1 was decided")
		},
		follow: func(_ *pod, req *agentv1.FollowRequest, s grpc.ServerStreamingServer[agentv1.FollowResponse]) error {
			if req.GetAfterSeq() != 4 {
				t.Errorf("it follows %v", req)
			}
			return told(s, text(5, "a"), complete(6, "stop"))
		},
	}
	g := startGateway(t, nil, startPod(t, s), startPod(t, s))
	const decision = `{"session_id":"s","tool_call_results":[{"tool_call_id":"c1","tool_name":"x","decision":"modified","tool_args":{"a":1},"digest":"x"}]}`
	wantSeqs(t, g.do(t, "POST", "/api/agent/resume", decision), 5, 6)
	// One that another was quicker to decide is.
	wantProblem(t, g.do(t, "POST", "/api/agent/resume", decision), http.StatusConflict, "ALREADY_DECIDED")
}

func TestEvents(t *testing.T) {
	t.Parallel()
	p := startPod(t, &script{follow: func(_ *pod, req *agentv1.FollowRequest, s grpc.ServerStreamingServer[agentv1.FollowResponse]) error {
		if req.GetSessionId() != "a/b" {
			return errs.New(errs.SessionNotFound, "no such session")
		}
		for seq := req.GetAfterSeq() + 1; seq <= 3; seq++ {
			if err := told(s, complete(seq, "stop")); err != nil {
				return err
			}
		}
		if req.GetUntil() == agentv1.FollowRequest_UNTIL_FOREVER {
			<-s.Context().Done()
		}
		return nil
	}})
	g := startGateway(t, nil, p)
	const events = "/api/agent/sessions/a%2Fb/events"
	wantSeqs(t, g.do(t, "GET", events+"?follow=false", ""), 1, 2, 3)
	wantSeqs(t, g.do(t, "GET", events+"?follow=false&after_seq=2", "", "Last-Event-ID", "1"), 3)
	wantSeqs(t, g.do(t, "GET", events+"?follow=false", "", "Last-Event-ID", "1"), 2, 3)
	wantSeqs(t, g.do(t, "GET", events+"?follow=false&after_seq=3", ""))
	for path, status := range map[string]int{
		events + "?after_seq=x": 400, events + "?after_seq=-1": 400, events + "?follow=x": 400, events + "?dialect=x": 400,
		"/api/agent/sessions/b/events": 404,
	} {
		if resp := g.do(t, "GET", path, ""); resp.StatusCode != status {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
	if resp := g.do(t, "GET", events, "", "Last-Event-ID", "x"); resp.StatusCode != 400 {
		t.Error(resp.Status)
	}
	// Without follow=false it goes on behind a complete.
	ctx, leave := context.WithCancel(t.Context())
	lines := bufio.NewScanner(g.doIn(ctx, t, "GET", events, "").Body)
	read(t, lines, "id: 3")
	leave()
}

// A client that leaves ends the RPC, and the orchestrator does what the client asked for.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	left := make(chan agentv1.InvokeRequest_OnDisconnect, 1)
	p := startPod(t, &script{invoke: func(_ *pod, req *agentv1.InvokeRequest, s grpc.ServerStreamingServer[agentv1.InvokeResponse]) error {
		_ = say(s, text(1, "a"))
		<-s.Context().Done()
		left <- req.GetOnDisconnect()
		return nil
	}})
	g := startGateway(t, nil, p)
	for how, want := range map[string]agentv1.InvokeRequest_OnDisconnect{
		"cancel": agentv1.InvokeRequest_ON_DISCONNECT_CANCEL, "continue": agentv1.InvokeRequest_ON_DISCONNECT_CONTINUE,
	} {
		ctx, leave := context.WithCancel(t.Context())
		resp := g.doIn(ctx, t, "POST", "/api/agent/invoke", `{"message":"x","on_disconnect":"`+how+`"}`)
		if _, err := resp.Body.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		leave()
		if got := <-left; got != want {
			t.Errorf("%s: %s", how, got)
		}
	}
}

// The run of a client that wanted it cancelled is, also where the orchestrator that knew that is gone.
func TestClientLeavesAnotherOrchestrator(t *testing.T) {
	t.Parallel()
	cancelled, heard := make(chan string, 1), make(chan struct{})
	s := &script{
		invoke: func(p *pod, _ *agentv1.InvokeRequest, s grpc.ServerStreamingServer[agentv1.InvokeResponse]) error {
			_ = say(s, text(1, "a"))
			<-heard
			return p.die(s)
		},
		follow: func(_ *pod, _ *agentv1.FollowRequest, s grpc.ServerStreamingServer[agentv1.FollowResponse]) error {
			_ = told(s, text(2, "b"))
			<-s.Context().Done()
			return nil
		},
		cancel: func(ctx context.Context, req *agentv1.CancelRunRequest) (*agentv1.CancelRunResponse, error) {
			user, err := auth.BehalfOf(ctx)
			cancelled <- string(user) + " " + req.GetSessionId()
			return &agentv1.CancelRunResponse{}, err
		},
	}
	g := startGateway(t, nil, startPod(t, s), startPod(t, s))
	ctx, leave := context.WithCancel(t.Context())
	lines := bufio.NewScanner(g.doIn(ctx, t, "POST", "/api/agent/invoke", `{"message":"x","on_disconnect":"cancel"}`).Body)
	read(t, lines, "id: 1")
	close(heard)
	read(t, lines, "id: 2")
	leave()
	if got := <-cancelled; got != "u s" {
		t.Errorf("cancelled %q", got)
	}
}

// A client that does not read is cut after a while; its run is not cancelled, only no longer listened to.
func TestSlowClientIsCut(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	big := strings.Repeat("x", 1<<20)
	p := startPod(t, &script{invoke: func(_ *pod, _ *agentv1.InvokeRequest, s grpc.ServerStreamingServer[agentv1.InvokeResponse]) error {
		defer close(left)
		for seq := int64(1); ; seq++ {
			if err := say(s, text(seq, big)); err != nil {
				return err
			}
		}
	}})
	g := startGateway(t, nil, p)
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /api/agent/invoke HTTP/1.1\r\nHost: localhost\r\nX-User-Id: u\r\nContent-Length: %d\r\n\r\n%s", len(hello), hello)
	select {
	case <-left:
	case <-time.After(20 * time.Second):
		t.Error("it is not cut")
	}
}

// drain ends streams, except those that end their runs.
type drain struct{ early, cut chan struct{} }

func (d drain) Enter(endsRun bool) (leave <-chan struct{}, left func()) {
	if endsRun {
		return d.cut, func() {}
	}
	return d.early, func() {}
}

// A gateway that drains sends its clients elsewhere, except those whose run would end with the stream.
func TestDrain(t *testing.T) {
	t.Parallel()
	var ended atomic.Int32
	finish := make(chan struct{})
	p := startPod(t, &script{invoke: func(_ *pod, _ *agentv1.InvokeRequest, s grpc.ServerStreamingServer[agentv1.InvokeResponse]) error {
		defer ended.Add(1)
		_ = say(s, text(1, "a"))
		select {
		case <-finish:
			return say(s, complete(2, "stop"))
		case <-s.Context().Done():
			return nil
		}
	}})
	streams := drain{early: make(chan struct{}), cut: make(chan struct{})}
	g := startGateway(t, func(_ *auth.Config, c *agentapi.Config) { c.Streams = streams }, p)
	goesOn := g.do(t, "POST", "/api/agent/invoke", hello)
	stays := g.do(t, "POST", "/api/agent/invoke", `{"message":"x","on_disconnect":"cancel"}`)
	close(streams.early)
	body, err := io.ReadAll(goesOn.Body)
	if err != nil || !strings.HasSuffix(string(body), "come back with Last-Event-ID\n\n") {
		t.Errorf("%v: %s", err, body)
	}
	testkit.Eventually(t, 10*time.Second, func() bool { return ended.Load() == 1 }, "the orchestrator hears that one client left")
	close(finish)
	wantSeqs(t, stays, 1, 2)
}
