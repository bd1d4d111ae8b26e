package toolclient_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolclient"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	large := `{"content":[{"type":"text","text":"` + strings.Repeat("x", 6<<20) + `"}]}`
	g := serve(t, "gw", func(r *received) {
		switch r.call.GetToolName() {
		case "large":
			r.answer(large)
		case "empty":
			r.answer("")
		case "error":
			r.send(&toolv1.CallsResponse{Id: r.id, Event: &toolv1.CallsResponse_Answer{Answer: &toolv1.Answer{
				NodeId: "desk", Outcome: &toolv1.Answer_ErrorJson{ErrorJson: []byte(`{"code":-32603}`)},
			}}})
		default:
			answers(r)
		}
	})
	c := dial(t, toolclient.Patience{}, g)
	for tool, want := range map[string]string{"small": `{"content":[]}`, "large": large, "empty": ""} {
		answer, err := c.Call(t.Context(), call(tool))
		if err != nil || string(answer.GetResultJson()) != want || answer.GetNodeId() != "gw" || answer.Outcome == nil {
			t.Errorf("%s: %d bytes of %q, %v", tool, len(answer.GetResultJson()), answer.GetNodeId(), err)
		}
	}
	if answer, err := c.Call(t.Context(), call("error")); err != nil || string(answer.GetErrorJson()) != `{"code":-32603}` {
		t.Errorf("a JSON-RPC error is an answer: %v, %v", answer, err)
	}
}

// What the caller says reaches the gateway, with the time that is left.
func TestCallIsPassedOnWhole(t *testing.T) {
	t.Parallel()
	g := serve(t, "gw", answers)
	c := dial(t, toolclient.Patience{}, g)
	sent := &toolv1.Call{
		UserId: "ana", NodeId: "n", NodeType: nodev1.NodeType_NODE_TYPE_DESKTOP, SessionId: "s", PreferredNodeId: "p",
		ToolName: "t", ArgumentsJson: []byte(`{"a":[1]}`), Timeout: durationpb.New(30 * time.Second),
		Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", Epoch: 7,
	}
	fields := sent.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if !sent.ProtoReflect().Has(fields.Get(i)) {
			t.Fatalf("this test does not know field %s", fields.Get(i).Name())
		}
	}
	before := proto.CloneOf(sent)
	if _, err := c.Call(t.Context(), sent); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(sent, before) {
		t.Error("the caller's message was changed")
	}
	got := g.seen()[0]
	if left := got.GetTimeout().AsDuration(); left <= 29*time.Second || left > 30*time.Second {
		t.Errorf("timeout: %v", left)
	}
	got.Timeout = sent.GetTimeout()
	if !proto.Equal(got, sent) {
		t.Errorf("got %v, want %v", got, sent)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
	defer cancel()
	_, _ = c.Call(ctx, sent)
	_, _ = c.Call(t.Context(), call("x"))
	for i, want := range map[int]time.Duration{1: 7 * time.Second, 2: time.Minute} {
		if left := g.seen()[i].GetTimeout().AsDuration(); left <= want-time.Second || left > want {
			t.Errorf("call %d has %v, want %v", i, left, want)
		}
	}
}

func TestManyCallsShareOneStream(t *testing.T) {
	t.Parallel()
	var late []*received
	g := serve(t, "gw", func(r *received) {
		// Answered in reverse, so that none waits for another.
		if late = append(late, r); len(late) == 100 {
			for i := len(late) - 1; i >= 0; i-- {
				late[i].answer(`"` + late[i].call.GetToolName() + `"`)
			}
		}
	})
	c := dial(t, toolclient.Patience{}, g)
	var calls sync.WaitGroup
	for i := range 100 {
		calls.Go(func() {
			tool := fmt.Sprint("tool-", i)
			answer, err := c.Call(t.Context(), call(tool))
			if err != nil || string(answer.GetResultJson()) != `"`+tool+`"` {
				t.Errorf("%s: %v, %v", tool, answer, err)
			}
		})
	}
	calls.Wait()
	if g.opened() != 1 {
		t.Errorf("%d streams", g.opened())
	}
}

func TestRoundRobin(t *testing.T) {
	t.Parallel()
	gateways := []*gateway{serve(t, "a", answers), serve(t, "b", answers), serve(t, "c", answers)}
	c := dial(t, toolclient.Patience{}, gateways...)
	for range 30 {
		if _, err := c.Call(t.Context(), call("x")); err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range gateways {
		if n := len(g.seen()); n != 10 {
			t.Errorf("gateway %s has %d of 30 calls", g.name, n)
		}
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	g := serve(t, "gw", func(r *received) {
		if r.call.GetToolName() == "steps" {
			for i := range 5 {
				r.progress(fmt.Sprint(i))
			}
		}
		if r.call.GetToolName() == "flood" {
			for range 500 {
				r.progress("again")
			}
		}
		answers(r)
	})
	c := dial(t, toolclient.Patience{}, g)
	var heard []string
	answer, err := c.CallProgress(t.Context(), call("steps"), func(p *toolv1.Progress) { heard = append(heard, p.GetMessage()) })
	if err != nil || answer == nil || strings.Join(heard, "") != "01234" {
		t.Errorf("heard %v, %v", heard, err)
	}

	// A caller who is slow to listen holds nobody up, itself included.
	release, entered := make(chan struct{}), make(chan struct{})
	var once sync.Once
	slow := make(chan error, 1)
	n := 0
	go func() {
		_, err := c.CallProgress(t.Context(), call("flood"), func(*toolv1.Progress) {
			once.Do(func() { close(entered); <-release })
			n++
		})
		slow <- err
	}()
	<-entered
	if _, err := c.Call(t.Context(), call("x")); err != nil {
		t.Error(err)
	}
	close(release)
	if err := <-slow; err != nil || n < 2 || n > 66 {
		t.Errorf("the slow caller heard %d, %v", n, err)
	}
}

func TestCancelIsPassedOn(t *testing.T) {
	t.Parallel()
	g := serve(t, "gw", silent)
	c := dial(t, toolclient.Patience{}, g)
	ctx, cancel := context.WithCancel(t.Context())
	done := calling(ctx, c, call("x"))
	testkit.Eventually(t, 5*time.Second, func() bool { return len(g.seen()) == 1 }, "the call arrives")
	cancel()
	if got := <-done; !errors.Is(got.err, errs.Cancelled) || !errors.Is(got.err, context.Canceled) || errs.Retryable(got.err) {
		t.Errorf("got %v", got.err)
	}
	testkit.Eventually(t, 5*time.Second, func() bool { return len(g.cancelled()) == 1 }, "the gateway hears of it")
	if reason := g.cancelled()[0]; !strings.Contains(reason, "gave the call up") {
		t.Errorf("reason %q", reason)
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	g := serve(t, "gw", silent)
	c := dial(t, toolclient.Patience{}, g)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Call(ctx, call("x")); !errors.Is(err, errs.ToolTimeout) || errs.Retryable(err) {
		t.Errorf("the context's: %v", err)
	}
	short := call("x")
	short.Timeout = durationpb.New(50 * time.Millisecond)
	began := time.Now()
	if _, err := c.Call(t.Context(), short); !errors.Is(err, errs.ToolTimeout) {
		t.Errorf("the call's: %v", err)
	}
	// The gateway had its chance to say so itself.
	if took := time.Since(began); took < time.Second || took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	testkit.Eventually(t, 5*time.Second, func() bool { return len(g.cancelled()) == 2 }, "the gateway hears of both")
	if len(g.seen()) != 2 {
		t.Errorf("%d calls", len(g.seen()))
	}
}

// A bad call must not end the stream that it shares.
func TestBadCallsFailAlone(t *testing.T) {
	t.Parallel()
	blocked := make(chan *received, 1)
	g := serve(t, "gw", func(r *received) {
		if r.call.GetToolName() == "open" {
			blocked <- r
			return
		}
		r.refuse(&toolv1.Failure{Reason: r.call.GetToolName(), Outcome: string(errs.NotDelivered), Message: "no"})
	})
	c := dial(t, toolclient.Patience{}, g)
	open := calling(t.Context(), c, call("open"))
	held := <-blocked

	tooLarge, notText, negative := call("x"), call("x"), call("x")
	tooLarge.ArgumentsJson = bytes.Repeat([]byte("x"), 10<<20)
	notText.SessionId = "\xff"
	negative.Timeout = durationpb.New(-time.Second)
	if _, err := c.Call(t.Context(), tooLarge); !errors.Is(err, errs.TooLarge) {
		t.Errorf("too large: %v", err)
	}
	for name, bad := range map[string]*toolv1.Call{"not UTF-8": notText, "timeout": negative, "refused there": call("INVALID_ARGUMENT")} {
		if _, err := c.Call(t.Context(), bad); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.Call(t.Context(), call("INTERNAL")); status.Code(err) != codes.Internal || errs.Retryable(err) {
		t.Errorf("internal: %v", err)
	}
	held.answer("{}")
	if got := <-open; got.err != nil {
		t.Errorf("the call beside: %v", got.err)
	}
	if g.opened() != 1 || len(g.seen()) != 3 {
		t.Errorf("%d streams, %d calls", g.opened(), len(g.seen()))
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	g := serve(t, "gw", silent)
	c := dial(t, toolclient.Patience{}, g)
	done := calling(t.Context(), c, call("x"))
	testkit.Eventually(t, 5*time.Second, func() bool { return len(g.seen()) == 1 }, "the call arrives")
	c.Close()
	if got := <-done; !errors.Is(got.err, errs.Cancelled) {
		t.Errorf("got %v", got.err)
	}
	began := time.Now()
	if _, err := c.Call(t.Context(), call("x")); !errors.Is(err, errs.BusUnavailable) || time.Since(began) > 5*time.Second {
		t.Errorf("after Close: %v", err)
	}
}
