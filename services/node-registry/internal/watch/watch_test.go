package watch_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/watch"
)

func TestMain(m *testing.M) { testkit.Main(m) }

var discard = slog.New(slog.NewTextHandler(io.Discard, nil))

func newFeed(t *testing.T) (*watch.Feed, *nats.Conn) {
	t.Helper()
	nc, closeNATS, err := watch.Connect(bus.Options{URL: testkit.NATS(t), Name: "test", Logger: discard}, &bus.Denied{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeNATS)
	testkit.Eventually(t, 10e9, nc.IsConnected, "the bus is there")
	feed, err := watch.NewFeed(nc, discard, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return feed, nc
}

func event(user ids.UserID, name string) *nodev1.NodeEvent {
	return &nodev1.NodeEvent{Kind: nodev1.NodeEvent_KIND_ONLINE, UserId: string(user), Node: &nodev1.Node{Info: &nodev1.NodeInfo{NodeName: name}}}
}

// A connection that does not hear itself would keep a replica's own events from its watchers.
func TestDeafConnectionIsRefused(t *testing.T) {
	t.Parallel()
	nc, err := nats.Connect(testkit.NATS(t), nats.NoEcho())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := watch.NewFeed(nc, discard, prometheus.NewRegistry()); err == nil {
		t.Error("accepted")
	}
}

func TestFellBehind(t *testing.T) {
	t.Parallel()
	feed, _ := newFeed(t)
	user := ids.UserID(testkit.Prefix(t))
	w, err := feed.Watch(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	big := []*nodev1.NodeEvent{event(user, strings.Repeat("x", 512<<10))}
	for range 20 { // 10 MiB where 8 may wait
		feed.Announce(t.Context(), big)
	}
	<-w.Failed()
	if !errors.Is(w.Err(), watch.ErrFellBehind) {
		t.Errorf("ended with %v", w.Err())
	}
	if _, err := w.Next(t.Context()); !errors.Is(err, watch.ErrFellBehind) {
		t.Errorf("next: %v", err)
	}
}

// What is no event is passed over.
func TestNonsenseOnTheSubject(t *testing.T) {
	t.Parallel()
	feed, nc := newFeed(t)
	user := ids.UserID(testkit.Prefix(t))
	w, err := feed.Watch(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := nc.Publish(bus.NodeEventSubject(user), []byte("nonsense")); err != nil {
		t.Fatal(err)
	}
	feed.Announce(t.Context(), []*nodev1.NodeEvent{event(user, "sense")})
	got, err := w.Next(t.Context())
	if err != nil || got.GetNode().GetInfo().GetNodeName() != "sense" {
		t.Errorf("got %v, error %v", got, err)
	}
}

func TestNextHeedsItsContext(t *testing.T) {
	t.Parallel()
	feed, _ := newFeed(t)
	w, err := feed.Watch(t.Context(), "nobody")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("next: %v", err)
	}
}

func TestDrain(t *testing.T) {
	t.Parallel()
	feed, _ := newFeed(t)
	w, err := feed.Watch(t.Context(), "nobody")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	feed.Drain()
	if _, err := w.Next(t.Context()); !errors.Is(err, errs.Draining) {
		t.Errorf("an open watch: %v", err)
	}
	if _, err := feed.Watch(t.Context(), "nobody"); !errors.Is(err, errs.Draining) {
		t.Errorf("a new watch: %v", err)
	}
	if err := feed.Flush(t.Context()); err != nil {
		t.Error(err)
	}
}

// Events that cannot be announced are counted, and hold nobody up.
func TestAnnounceOnClosedConnection(t *testing.T) {
	t.Parallel()
	nc, err := nats.Connect(testkit.NATS(t))
	if err != nil {
		t.Fatal(err)
	}
	reg := prometheus.NewRegistry()
	feed, err := watch.NewFeed(nc, discard, reg)
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
	feed.Announce(t.Context(), []*nodev1.NodeEvent{event("ana", "lost")})
	metrics, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range metrics {
		if m.GetName() == "hecaton_registry_events_lost_total" && m.GetMetric()[0].GetCounter().GetValue() != 1 {
			t.Errorf("lost: %v", m)
		}
	}
	if _, err := feed.Watch(t.Context(), "ana"); !errors.Is(err, errs.BusUnavailable) {
		t.Errorf("watch: %v", err)
	}
	if feed.Up(t.Context()) == nil {
		t.Error("a closed connection is up")
	}
}
