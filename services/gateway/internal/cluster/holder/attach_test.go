package holder

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/witness"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// registry answers registrations as told, else with the next epoch.
type registry struct {
	answer func() (*nodev1.RegisterResult, error)

	mu    sync.Mutex
	asked int
}

func (r *registry) Register(context.Context, *nodev1.Registration) (*nodev1.RegisterResult, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	if r.answer != nil {
		return r.answer()
	}
	return &nodev1.RegisterResult{Outcome: nodev1.RegisterResult_OUTCOME_REGISTERED, Epoch: int64(r.asked)}, nil
}

// next is the answer of another pod's registry, whose epochs go on from here.
func (r *registry) next() (*nodev1.RegisterResult, error) {
	return r.Register(nil, nil) //nolint:staticcheck // it uses neither
}

func (r *registry) Deregister(context.Context, ids.Node, ids.Epoch) error { return nil }

// pod is a holder with a socket for nodes, which nobody attaches but the test.
type pod struct {
	*Holder
	t        *testing.T
	user     ids.UserID
	registry *registry
	url      string
	accepted chan *conn.Conn
}

func newPod(t *testing.T) *pod {
	t.Helper()
	return newPodAt(t, testkit.NATS(t))
}

func newPodAt(t *testing.T, url string) *pod {
	t.Helper()
	b, err := bus.Connect(t.Context(), bus.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	p := &pod{t: t, user: ids.UserID(testkit.Prefix(t)), registry: &registry{}, accepted: make(chan *conn.Conn)}
	id := ids.GatewayID(testkit.Prefix(t))
	w, err := witness.New(witness.Options{Gateway: id, Bus: b, Logger: obs.OrDiscard(nil)})
	if err != nil {
		t.Fatal(err)
	}
	p.Holder, err = New(Config{
		Gateway: id, Bus: b, Hub: hub.New(), Registry: p.registry, Witness: w,
		Attached: func(time.Duration) {}, Logger: obs.OrDiscard(nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg := &conn.Config{MaxFrame: 1 << 10, MaxQueued: 1 << 10, WriteTimeout: 5 * time.Second, Budget: frame.NewBudget(1 << 20)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := conn.Accept(w, r, "", cfg)
		if err != nil {
			t.Error(err)
		}
		p.accepted <- c
	}))
	p.url = server.URL
	t.Cleanup(func() {
		server.Close()
		p.Close()
		b.Close()
	})
	return p
}

// connect returns both ends of a node's connection, which nobody reads.
func (p *pod) connect() (*websocket.Conn, *hub.Node) {
	p.t.Helper()
	ws, _, err := websocket.Dial(p.t.Context(), p.url, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	c := <-p.accepted
	p.t.Cleanup(func() {
		_ = ws.CloseNow()
		ended := make(chan conn.Reason)
		c.Serve(context.WithoutCancel(p.t.Context()), func(b *frame.Buffer) bool { b.Release(); return false }, func(r conn.Reason) { ended <- r })
		<-ended
	})
	return ws, hub.NewNode(p.user, "extension", &nodev1.NodeInfo{NodeId: "ext", MaxConcurrentTasks: 1}, c, plain{})
}

func (p *pod) wantHeld(n *hub.Node) {
	p.t.Helper()
	if p.Hub.Find(n.Key()) != n || n.Conn.Reason() != conn.Open {
		p.t.Errorf("the living connection is not held, it is %s", n.Conn.Reason())
	}
}

func (p *pod) wantRefused(n *hub.Node, want conn.Reason) {
	p.t.Helper()
	var refused *RefusedError
	if err := p.Attach(p.t.Context(), n); !errors.As(err, &refused) || refused.Reason != want {
		p.t.Errorf("got %v, want %s", err, want)
	}
	if slices.Contains(p.Hub.Nodes(n.User), n) {
		p.t.Error("it is held")
	}
}

// A node gives up its first attempt and connects again. The first one's turn comes only then.
func TestAConnectionThatWasGivenUpSupersedesNothing(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	_, second := p.connect()
	if err := p.Attach(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	ws, first := p.connect() // accepted late, as a busy machine does
	_ = ws.CloseNow()
	testkit.Eventually(t, 10*time.Second, first.Conn.Gone, "the end of the socket has come")
	p.wantRefused(first, conn.ClientClosed)
	p.wantHeld(second)
	if p.registry.asked != 1 {
		t.Error("it has taken an epoch")
	}
}

// Of two connections the one that was accepted later wins, in whatever order their turns come.
func TestConnectionsOfANodeAreInTheOrderInWhichTheyWereAccepted(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	_, first := p.connect()
	_, second := p.connect()
	_, third := p.connect()
	if err := p.Attach(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	p.wantRefused(first, conn.Superseded)
	p.wantHeld(second)
	if p.registry.asked != 1 {
		t.Error("it has taken an epoch")
	}
	if err := p.Attach(t.Context(), third); err != nil {
		t.Fatal(err)
	}
	p.wantHeld(third)
	if got := second.Conn.Reason(); got != conn.Superseded {
		t.Errorf("the earlier one is %s", got)
	}
}

// The registry says that another pod accepted a later connection. It goes by clocks, so the node may come again.
func TestOvertakenByAnotherPod(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	p.registry.answer = func() (*nodev1.RegisterResult, error) {
		return &nodev1.RegisterResult{Outcome: nodev1.RegisterResult_OUTCOME_SUPERSEDED, Epoch: 9}, nil
	}
	_, n := p.connect()
	p.wantRefused(n, conn.Overloaded)
}

// A registry that does not answer takes its time. A connection that another pod accepts meanwhile is the later one.
func TestAProvisionalEpochIsOfWhenTheRegistryWasAsked(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	var asked time.Time
	p.registry.answer = func() (*nodev1.RegisterResult, error) {
		asked = time.Now()
		testkit.Eventually(t, time.Minute, func() bool { return time.Now().UnixMilli() > asked.UnixMilli() }, "time goes on")
		return nil, errs.New(errs.BusUnavailable, "away")
	}
	_, n := p.connect()
	if err := p.Attach(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	if got := int64(n.Epoch()); got == 0 || got > asked.UnixMilli() {
		t.Errorf("epoch %d, the registry was asked at %d", got, asked.UnixMilli())
	}
}

// What the registry said of a name or an epoch that the node has no longer closes nothing: the later connection may be its own.
func TestANodeThatWasRenamedMeanwhileIsNotSuperseded(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	_, n := p.connect()
	if err := p.Attach(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	before, epoch := n.Key(), n.Epoch()
	if err := p.Update(t.Context(), n, &nodev1.NodeInfo{NodeId: "new"}, tooldef.Set{}); err != nil {
		t.Fatal(err)
	}
	p.Superseded(n, before, epoch)
	p.Superseded(n, n.Key(), epoch) // as it is read while the node is on its way to the new name
	p.wantHeld(n)
	p.Superseded(n, n.Key(), n.Epoch())
	if got := n.Conn.Reason(); got != conn.Superseded {
		t.Errorf("it is open still: %v", got)
	}
}
