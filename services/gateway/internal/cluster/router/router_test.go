package router

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel/trace"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/witness"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

const answer = `{"jsonrpc":"2.0","id":"1","result":{"ok":true}}`

// pod is everything around a router: the nodes of its pod, the registry, and who counts.
type pod struct {
	here   ids.NodeID // the node that this pod holds
	first  ids.NodeID // the user's first one
	nodes  []*nodev1.Node
	bound  string // the node of every session
	choose func(*nodev1.ResolveNodeRequest) (*nodev1.ResolveNodeResponse, error)

	unseen bool // what all pods say of calls that nobody has seen

	mu        sync.Mutex
	asked     []witness.Call
	cancelled []string
	ended     []errs.Reason
}

func (p *pod) Deliver(key ids.Node, _ envelope.Call, _ []byte, sink calls.Sink) bool {
	if key.Node != p.here {
		return false
	}
	sink.Done(frame.Wrap([]byte(answer)), nil)
	return true
}

func (p *pod) Cancel(_ ids.Node, _ ids.CallID, reason string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cancelled = append(p.cancelled, reason)
	return true
}

func (p *pod) Send(key ids.Node, _ []byte, _ string) *errs.Error {
	if key.Node != p.here {
		return errs.New(errs.NodeNotConnected, "not here")
	}
	return nil
}

func (p *pod) First(ids.UserID, nodev1.NodeType) ids.NodeID { return p.first }

func (p *pod) Resolve(_ context.Context, r *nodev1.ResolveNodeRequest) (*nodev1.ResolveNodeResponse, error) {
	return p.choose(r)
}

func (p *pod) List(context.Context, *nodev1.ListNodesRequest) ([]*nodev1.Node, error) {
	return p.nodes, nil
}

func (p *pod) Session(context.Context, *nodev1.GetSessionRequest) (*nodev1.GetSessionResponse, error) {
	return &nodev1.GetSessionResponse{NodeId: p.bound}, nil
}

func (p *pod) Forget(ids.Node) {}

func (p *pod) Unseen(_ context.Context, calls []witness.Call) []bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, calls...)
	return slices.Repeat([]bool{p.unseen}, len(calls))
}

func (p *pod) count(_ trace.Span, err *errs.Error, _ time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		err = &errs.Error{}
	}
	p.ended = append(p.ended, err.Reason)
}

// newRouter returns a router and the bus of another pod, on which a test plays the holder of nodes.
func newRouter(t *testing.T, p *pod) (r *Router, elsewhere *bus.Conn) {
	t.Helper()
	here, elsewhere := connect(t), connect(t)
	r, err := New(Config{
		Gateway: ids.GatewayID(testkit.Prefix(t)), Bus: here, Local: p, Directory: p, Witness: p, MaxFrame: 1 << 10, MaxReply: 1 << 20,
		CallEnded: p.count, Logger: obs.OrDiscard(nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r, elsewhere
}

func connect(t *testing.T) *bus.Conn {
	t.Helper()
	b, err := bus.Connect(t.Context(), bus.Options{URL: testkit.NATS(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// holder plays the pod that holds a node.
func holder(t *testing.T, b *bus.Conn, key ids.Node, suffix string, handle func(*nats.Msg)) {
	t.Helper()
	sub, err := b.Subscribe(bus.NodePrefix(key)+suffix, handle)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Unsubscribe() })
	if err := b.FlushTimeout(10 * time.Second); err != nil {
		t.Fatal(err)
	}
}

func request(t *testing.T, node ids.NodeID) Request {
	return Request{
		Target: Target{User: ids.UserID(testkit.Prefix(t)), Node: node}, Tool: "click", Deadline: time.Now().Add(10 * time.Second),
	}
}

func reason(err error) errs.Reason {
	var e *errs.Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}

func TestACallAtANodeOfThisPod(t *testing.T) {
	t.Parallel()
	p := &pod{here: "here"}
	r, _ := newRouter(t, p)
	got, err := r.Call(t.Context(), request(t, "here"), nil)
	if err != nil || string(got.Result) != `{"ok":true}` || got.Error != nil || got.Node != "here" {
		t.Errorf("got %+v, %v", got, err)
	}
	large := request(t, "here")
	large.Arguments = []byte(`{"x":"` + strings.Repeat("x", 1<<10) + `"}`)
	late := request(t, "here")
	late.Deadline = time.Now().Add(-time.Second)
	for want, req := range map[errs.Reason]Request{errs.TooLarge: large, errs.NodeBusy: late} {
		if _, err := r.Call(t.Context(), req, nil); reason(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if len(p.ended) != 3 {
		t.Errorf("counted %v", p.ended)
	}
}

func TestACallAtANodeOfAnotherPod(t *testing.T) {
	t.Parallel()
	p := &pod{}
	r, b := newRouter(t, p)
	if _, err := r.Call(t.Context(), request(t, "nowhere"), nil); reason(err) != errs.NodeNotConnected {
		t.Errorf("nobody holds the node: %v", err)
	}
	req := request(t, "there")
	var sent envelope.Call
	holder(t, b, ids.Node{User: req.User, Node: "there"}, bus.SuffixCall, func(m *nats.Msg) {
		sent, _ = envelope.ParseCall(m.Header)
		_ = b.PublishMsg(envelope.Status(m.Reply, calls.Queued))
		_ = b.PublishMsg(envelope.Reply(m.Reply, envelope.Progress, []byte(`{"progress":1}`)))
		_ = b.PublishMsg(&nats.Msg{Subject: m.Reply, Data: []byte(answer)})
	})
	progress := make(chan string, 1)
	got, err := r.Call(t.Context(), req, func(params []byte) { progress <- string(params) })
	if err != nil || string(got.Result) != `{"ok":true}` {
		t.Errorf("got %+v, %v", got, err)
	}
	if params := <-progress; params != `{"progress":1}` {
		t.Errorf("progress is %s", params)
	}
	if sent.ID == "" || !sent.Deadline.Equal(req.Deadline.Truncate(time.Millisecond)) {
		t.Errorf("the holder got %+v", sent)
	}
	if r.Open() != 0 {
		t.Errorf("%d calls are open", r.Open())
	}
}

func TestFailuresOfAHolderAreItsCallers(t *testing.T) {
	t.Parallel()
	r, b := newRouter(t, &pod{})
	req := request(t, "there")
	holder(t, b, ids.Node{User: req.User, Node: "there"}, bus.SuffixCall, func(m *nats.Msg) {
		_ = b.PublishMsg(envelope.Failure(m.Reply, errs.New(errs.ToolNotOffered, "no such tool")))
	})
	if _, err := r.Call(t.Context(), req, nil); reason(err) != errs.ToolNotOffered || !strings.Contains(err.Error(), "no such tool") {
		t.Errorf("got %v", err)
	}
}

func TestACallThatIsGivenUpIsTakenBack(t *testing.T) {
	t.Parallel()
	r, b := newRouter(t, &pod{})
	req := request(t, "there")
	key := ids.Node{User: req.User, Node: "there"}
	called, taken := make(chan struct{}), make(chan string, 1)
	holder(t, b, key, bus.SuffixCall, func(*nats.Msg) { close(called) })
	holder(t, b, key, bus.SuffixControl, func(m *nats.Msg) { taken <- string(m.Data) })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-called
		cancel()
	}()
	if _, err := r.Call(ctx, req, nil); reason(err) != errs.Cancelled {
		t.Errorf("got %v", err)
	}
	if got := <-taken; !strings.HasSuffix(got, " cancelled by the caller") {
		t.Errorf("the holder heard %q", got)
	}
}

func TestADrainedRouterRefuses(t *testing.T) {
	t.Parallel()
	r, _ := newRouter(t, &pod{here: "here"})
	r.Drain(t.Context())
	if _, err := r.Call(t.Context(), request(t, "there"), nil); reason(err) != errs.Draining {
		t.Errorf("a call to another pod: %v", err)
	}
	if _, err := r.Call(t.Context(), request(t, "here"), nil); err != nil {
		t.Errorf("a call at a node of this pod: %v", err)
	}
}

func TestSend(t *testing.T) {
	t.Parallel()
	r, b := newRouter(t, &pod{here: "here"})
	user := ids.UserID(testkit.Prefix(t))
	heard := make(chan string, 1)
	holder(t, b, ids.Node{User: user, Node: "there"}, bus.SuffixCall, func(m *nats.Msg) {
		heard <- envelope.Asker(m) + " " + string(m.Data)
		_ = b.PublishMsg(envelope.Reply(m.Reply, envelope.Sent, nil))
	})
	for node, want := range map[ids.NodeID]errs.Reason{"here": "", "there": "", "nowhere": errs.NodeNotConnected} {
		if err := r.Send(t.Context(), ids.Node{User: user, Node: node}, []byte("{}"), "asker"); reason(err) != want {
			t.Errorf("%s: %v, want %q", node, err, want)
		}
	}
	if got := <-heard; got != "asker {}" {
		t.Errorf("the holder heard %q", got)
	}
	err := r.Send(t.Context(), ids.Node{User: user, Node: "here"}, make([]byte, 1<<10+1), "")
	if reason(err) != errs.TooLarge {
		t.Errorf("a large frame: %v", err)
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	away := errs.New(errs.BusUnavailable, "away")
	nodes := []*nodev1.Node{{}, {}}
	for name, tt := range map[string]struct {
		target Target
		answer *nodev1.ResolveNodeResponse
		err    error
		first  ids.NodeID
		node   ids.NodeID
		reason errs.Reason
	}{
		"named":                         {target: Target{Node: "n"}, node: "n"},
		"chosen":                        {answer: &nodev1.ResolveNodeResponse{NodeId: "c"}, node: "c"},
		"none":                          {answer: &nodev1.ResolveNodeResponse{}, reason: errs.NodeNotConnected},
		"several":                       {answer: &nodev1.ResolveNodeResponse{RequiresSelection: true, AvailableNodes: nodes}, reason: errs.RequiresSelection},
		"no registry, a node here":      {err: away, first: "f", node: "f"},
		"no registry, none here":        {err: away, reason: errs.BusUnavailable},
		"no registry, a session's node": {target: Target{Session: "s"}, err: away, first: "f", reason: errs.BusUnavailable},
	} {
		r := &Router{Config: Config{}}
		p := &pod{first: tt.first, choose: func(*nodev1.ResolveNodeRequest) (*nodev1.ResolveNodeResponse, error) { return tt.answer, tt.err }}
		r.Local, r.Directory = p, p
		if node, err := r.Choose(t.Context(), tt.target); node != tt.node || reason(err) != tt.reason {
			t.Errorf("%s: %q, %v", name, node, err)
		}
	}
}

// A call that names no node goes to the next one where the first has just left; one that names a node does not.
func TestACallThatMissesItsNodeIsSentToAnother(t *testing.T) {
	t.Parallel()
	choices := []string{"left", "here"}
	p := &pod{here: "here"}
	p.choose = func(*nodev1.ResolveNodeRequest) (*nodev1.ResolveNodeResponse, error) {
		node := choices[0]
		if len(choices) > 1 {
			choices = choices[1:]
		}
		return &nodev1.ResolveNodeResponse{NodeId: node}, nil
	}
	r, _ := newRouter(t, p)
	a, err := r.Call(t.Context(), request(t, ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Release()
	if a.Node != "here" {
		t.Errorf("answered by %s", a.Node)
	}
	if _, err := r.Call(t.Context(), request(t, "left"), nil); reason(err) != errs.NodeNotConnected {
		t.Errorf("a node that is named: %v", err)
	}
	choices = []string{"left"}
	if _, err := r.Call(t.Context(), request(t, ""), nil); reason(err) != errs.NodeNotConnected {
		t.Errorf("where there is no other: %v", err)
	}
}
