package live_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/live"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var ref = store.Ref{User: "a.na", Session: "session_1"}

// kept is one session's events, in memory.
type kept struct {
	mu      sync.Mutex
	events  []*agentv1.Event
	status  store.Status
	deleted bool
	fails   error
	reads   int // of events
}

func (k *kept) Events(_ context.Context, r store.Ref, after int64, limit int) ([]*agentv1.Event, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reads++
	if k.deleted || r != ref {
		return nil, errs.New(errs.SessionNotFound, "no such session")
	}
	if k.fails != nil {
		return nil, k.fails
	}
	from := min(int(after), len(k.events))
	return slices.Clone(k.events[from:min(from+limit, len(k.events))]), nil
}

func (k *kept) Session(_ context.Context, r store.Ref) (store.Session, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.deleted || r != ref {
		return store.Session{}, errs.New(errs.SessionNotFound, "no such session")
	}
	return store.Session{Ref: r, Status: k.status, LastSeq: int64(len(k.events))}, k.fails
}

// text keeps n more events of some bytes each.
func (k *kept) text(n, size int) []*agentv1.Event {
	k.mu.Lock()
	defer k.mu.Unlock()
	from := len(k.events)
	for range n {
		k.events = append(k.events, &agentv1.Event{
			Seq: int64(len(k.events) + 1), Kind: &agentv1.Event_Text{Text: &agentv1.Text{Content: strings.Repeat("x", size)}},
		})
	}
	return k.events[from:]
}

func (k *kept) complete() []*agentv1.Event {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.status = store.Idle
	k.events = append(k.events, &agentv1.Event{
		Seq: int64(len(k.events) + 1), Kind: &agentv1.Event_Complete{Complete: &agentv1.Complete{FinishReason: "stop"}},
	})
	return k.events[len(k.events)-1:]
}

func (k *kept) set(change func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change()
}

func (k *kept) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.reads
}

func hub(t *testing.T, k *kept, url string) *live.Hub {
	t.Helper()
	var b *bus.Conn
	if url != "" {
		var err error
		if b, err = bus.Connect(t.Context(), bus.Options{URL: url}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
	}
	h, err := live.New(live.Options{Store: k, Bus: b})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close(context.WithoutCancel(t.Context())) })
	return h
}

// follower collects what it is sent.
type follower struct {
	t     *testing.T
	ended chan error

	mu   sync.Mutex
	seqs []int64
}

func (f *follower) send(e *agentv1.Event) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seqs = append(f.seqs, e.GetSeq())
	return nil
}

func (f *follower) got() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.seqs)
}

// inOrder checks that the events after a number came, each once.
func (f *follower) inOrder(after, n int) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seqs) != n {
		f.t.Errorf("%d events, want %d", len(f.seqs), n)
	}
	for i, seq := range f.seqs {
		if seq != int64(after+i+1) {
			f.t.Fatalf("event %d has the number %d", i, seq)
		}
	}
}

func (f *follower) end() error {
	f.t.Helper()
	select {
	case err := <-f.ended:
		return err
	case <-time.After(10 * time.Second):
		f.t.Fatal("it follows on")
		return nil
	}
}

// follow follows until the test ends.
func follow(t *testing.T, h *live.Hub, after int64, until live.Until) *follower {
	t.Helper()
	f := &follower{t: t, ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var done sync.WaitGroup
	done.Go(func() { f.ended <- h.Follow(ctx, ref, after, until, f.send) })
	t.Cleanup(func() { cancel(); done.Wait() })
	return f
}

func eventually(t *testing.T, f *follower, n int) {
	t.Helper()
	testkit.Eventually(t, 10*time.Second, func() bool { return f.got() >= n }, "%d events have come", n)
}

func TestUntil(t *testing.T) {
	t.Parallel()
	k := &kept{status: store.Running}
	k.text(600, 1) // more than one page
	h := hub(t, k, "")

	last := follow(t, h, 10, live.Last)
	if err := last.end(); err != nil {
		t.Error(err)
	}
	last.inOrder(10, 590)
	if beyond := follow(t, h, 1000, live.Last); beyond.end() != nil || beyond.got() != 0 {
		t.Error("events that are not there")
	}

	ends, forever := follow(t, h, 599, live.RunEnds), follow(t, h, 0, live.Forever)
	eventually(t, forever, 600)
	eventually(t, ends, 1)
	h.Publish(ref, k.text(3, 1))
	h.Publish(ref, k.complete())
	if err := ends.end(); err != nil {
		t.Error(err)
	}
	ends.inOrder(599, 5)
	k.set(func() { k.status = store.Running })
	h.Publish(ref, k.text(1, 1))
	eventually(t, forever, 605)
	forever.inOrder(0, 605)

	k.set(func() { k.status = store.Interrupted })
	over := follow(t, h, 0, live.RunEnds)
	if err := over.end(); err != nil {
		t.Error(err)
	}
	over.inOrder(0, 605)
}

func TestAbsentSession(t *testing.T) {
	t.Parallel()
	k := &kept{}
	h := hub(t, k, "")
	err := h.Follow(t.Context(), store.Ref{User: "bob", Session: ref.Session}, 0, live.Forever, nil)
	if !errors.Is(err, errs.SessionNotFound) {
		t.Error(err)
	}
	k.text(1, 1)
	f := follow(t, h, 0, live.Forever)
	eventually(t, f, 1)
	k.set(func() { k.deleted, k.events = true, nil })
	h.Look(ref)
	if err := f.end(); !errors.Is(err, errs.SessionNotFound) {
		t.Errorf("after its end: %v", err)
	}
}

// Followers on another pod get everything, whatever its size, and share one subscription.
func TestOtherPod(t *testing.T) {
	t.Parallel()
	k := &kept{status: store.Running}
	url := testkit.NATS(t)
	here, there := hub(t, k, url), hub(t, k, url)
	k.text(2, 1)
	one, two := follow(t, there, 0, live.RunEnds), follow(t, there, 2, live.Forever)
	eventually(t, one, 2)
	for _, size := range []int{10, 2 << 20, 10} {
		here.Publish(ref, k.text(3, size))
	}
	here.Publish(ref, k.text(8, 300<<10)) // in several messages
	here.Publish(ref, k.complete())
	if err := one.end(); err != nil {
		t.Error(err)
	}
	one.inOrder(0, 20)
	eventually(t, two, 18)
	two.inOrder(2, 18)
}

// What a pod's own runs do is not read from the store, nor is anything lost that comes out of order or twice.
func TestJoinedBefore(t *testing.T) {
	t.Parallel()
	k := &kept{status: store.Running}
	h := hub(t, k, testkit.NATS(t))
	k.text(5, 1)
	joined := h.Join(ref)
	defer joined.Leave()
	h.Publish(ref, k.text(1, 1))
	f := &follower{t: t, ended: make(chan error, 1)}
	go func() { f.ended <- joined.FollowRun(t.Context(), 5, f.send) }()
	eventually(t, f, 1)
	if k.count() != 0 {
		t.Errorf("%d reads", k.count())
	}
	first, second := k.text(1, 1), k.text(1, 1)
	h.Publish(ref, second)
	h.Publish(ref, first)
	h.Publish(ref, second)
	h.Publish(ref, k.complete())
	if err := f.end(); err != nil {
		t.Error(err)
	}
	f.inOrder(5, 4)
}

// A follower that does not read slows nobody, and has all events in the end.
func TestSlowFollower(t *testing.T) {
	t.Parallel()
	k := &kept{status: store.Running}
	h := hub(t, k, "")
	k.text(1, 1)
	gate := make(chan struct{})
	slow := &follower{t: t, ended: make(chan error, 1)}
	go func() {
		slow.ended <- h.Follow(context.WithoutCancel(t.Context()), ref, 0, live.RunEnds, func(e *agentv1.Event) error {
			<-gate
			return slow.send(e)
		})
	}()
	fast := follow(t, h, 0, live.RunEnds)
	eventually(t, fast, 1)
	for i := range 40 {
		h.Publish(ref, k.text(1, 100<<10))
		eventually(t, fast, i+2)
	}
	h.Publish(ref, k.complete())
	if err := fast.end(); err != nil {
		t.Error(err)
	}
	close(gate)
	if err := slow.end(); err != nil {
		t.Error(err)
	}
	slow.inOrder(0, 42)
	fast.inOrder(0, 42)
}

// What is lost on the way is found in the store, also while the bus is away and while the store itself fails for a time.
func TestOutages(t *testing.T) {
	t.Parallel()
	server := testkit.OwnNATS(t)
	k := &kept{status: store.Running}
	here, there := hub(t, k, server.URL()), hub(t, k, server.URL())
	k.text(1, 1)
	f := follow(t, there, 0, live.Forever)
	eventually(t, f, 1)

	k.text(1, 1) // kept, and never published
	eventually(t, f, 2)

	server.Stop()
	here.Publish(ref, k.text(3, 1))
	eventually(t, f, 5)

	k.set(func() { k.fails = errors.New("the disk is away") })
	k.text(1, 1)
	there.Look(ref)
	k.set(func() { k.fails = nil })
	eventually(t, f, 6)

	server.Start()
	here.Publish(ref, k.text(1, 1))
	eventually(t, f, 7)
	f.inOrder(0, 7)
}

func TestDrain(t *testing.T) {
	t.Parallel()
	k := &kept{status: store.Running}
	h := hub(t, k, "")
	k.text(1, 1)
	f := follow(t, h, 0, live.Forever)
	eventually(t, f, 1)
	h.Drain()
	if err := f.end(); !errors.Is(err, errs.AgentUnavailable) {
		t.Error(err)
	}
	stopped := errors.New("stopped")
	if err := h.Follow(t.Context(), ref, 0, live.Last, func(*agentv1.Event) error { return stopped }); !errors.Is(err, stopped) {
		t.Error(err)
	}
}

func TestCancelReachesOtherPods(t *testing.T) {
	t.Parallel()
	url := testkit.OwnNATS(t).URL()
	here, there := hub(t, &kept{}, url), hub(t, &kept{}, url)
	heard := make(chan store.Ref, 1)
	there.OnCancel(func(r store.Ref) {
		select {
		case heard <- r:
		default:
		}
	})
	testkit.Eventually(t, 10*time.Second, func() bool {
		here.PokeCancel(ref)
		select {
		case r := <-heard:
			return r == ref
		default:
			return false
		}
	}, "the other pod hears of it")
}

func FuzzDecode(f *testing.F) {
	k := &kept{}
	good, _ := live.Encode(k.text(2, 3), 1<<20)
	f.Add(good[0])
	f.Add([]byte{})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		events, err := live.Decode(in)
		if err != nil {
			return
		}
		messages, err := live.Encode(events, 1<<30)
		if err != nil || len(messages) != 1 {
			t.Fatalf("%d messages, %v", len(messages), err)
		}
		again, err := live.Decode(messages[0])
		if err != nil || len(again) != len(events) {
			t.Fatalf("%d events became %d, %v", len(events), len(again), err)
		}
		for i := range again {
			if !proto.Equal(again[i], events[i]) {
				t.Fatalf("event %d differs", i)
			}
		}
	})
}
