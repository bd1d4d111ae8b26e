package live_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/live"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// wire hears what goes over the bus about the session.
func wire(t *testing.T, url string) <-chan []byte {
	t.Helper()
	b, err := bus.Connect(t.Context(), bus.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	messages := make(chan []byte, 1000)
	if _, err := b.Subscribe(bus.AgentSubject(ref.User, ref.Session), func(m *nats.Msg) { messages <- m.Data }); err != nil {
		t.Fatal(err)
	}
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	return messages
}

// Events go over the bus only while somebody on another pod follows, and then a follower need not read the store for them.
func TestBusCarriesWhatIsFollowedElsewhere(t *testing.T) {
	t.Parallel()
	k := &kept{status: store.Running}
	url := testkit.OwnNATS(t).URL() // the session of the other tests
	heard := wire(t, url)
	here, there := hub(t, k, url), hub(t, k, url)
	k.text(1, 1)
	local := follow(t, here, 0, live.Forever)
	eventually(t, local, 1)
	for i := range 50 {
		here.Publish(ref, k.text(1, 1))
		eventually(t, local, i+2)
	}

	remote := follow(t, there, 0, live.RunEnds)
	eventually(t, remote, 51)
	if first := <-heard; len(first) != 0 {
		t.Errorf("%d bytes of events went over the bus before anybody elsewhere followed", len(first))
	}
	testkit.Eventually(t, 10*time.Second, func() bool { // once all that it missed is read
		before := k.count()
		n := remote.got()
		here.Publish(ref, k.text(1, 1))
		eventually(t, remote, n+1)
		return k.count() == before
	}, "an event comes over the bus, and not from the store")
	here.Publish(ref, k.complete())
	if err := remote.end(); err != nil {
		t.Error(err)
	}
	remote.inOrder(0, remote.got())
	if got, want := remote.got(), len(k.all()); got != want {
		t.Errorf("%d events, want %d", got, want)
	}
}

// Whoever begins to follow while events are published misses none, and waits for none until a later one shows the gap.
func TestFollowersComeWhileEventsArePublished(t *testing.T) {
	t.Parallel()
	k := &kept{status: store.Running}
	url := testkit.OwnNATS(t).URL() // the session of the other tests
	here := hub(t, k, url)
	for range 20 {
		there := hub(t, k, url)
		ctx, cancel := context.WithCancel(t.Context())
		last := k.text(3, 1)
		began := time.Now()
		f := &follower{t: t, ended: make(chan error, 1)}
		go func() { f.ended <- there.Follow(ctx, ref, 0, live.Forever, f.send) }()
		here.Publish(ref, last) // before, while or after it says that it follows
		here.Publish(ref, k.text(1, 1))
		eventually(t, f, len(k.all()))
		if took := time.Since(began); took > time.Second {
			t.Errorf("the last event came after %v", took)
		}
		cancel()
		if err := f.end(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		f.inOrder(0, len(k.all()))
	}
}

func (k *kept) all() []*agentv1.Event {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.events
}
