package changes_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/changes"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// nobody has no devices.
type nobody struct{}

func (nobody) List(context.Context, *nodev1.ListNodesRequest) ([]*nodev1.Node, error) {
	return nil, nil
}

// 10,000 devices change at once, and again: each listener hears of it soon, and no more often than the gap between two notifications
// lets it; what is kept of the devices is bounded.
func TestABurstOfChangesIsToldInAFewWords(t *testing.T) {
	t.Parallel()
	url := testkit.NATS(t)
	dial := func() *bus.Conn {
		b, err := bus.Connect(t.Context(), bus.Options{URL: url, Name: t.Name()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
		return b
	}
	b := dial() // the registry's
	f := changes.New(dial(), nobody{}, obs.OrDiscard(nil))
	t.Cleanup(f.Close)
	const users, devices = 10, 1000
	heard := make([]int, users)
	last := make([]time.Time, users)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{}, users)
	for i := range users {
		news, leave := f.Listen(t.Context(), user(i))
		go func() {
			defer func() { leave(); ended <- struct{}{} }()
			for {
				select {
				case <-news:
					heard[i]++
					last[i] = time.Now()
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	idle, leave := f.Listen(t.Context(), user(0)) // never looks
	defer leave()
	before := heap()
	began := time.Now()
	for round := range 3 {
		for d := range devices {
			for i := range users {
				raw, err := proto.Marshal(&nodev1.NodeEvent{
					UserId: string(user(i)), At: timestamppb.Now(), Kind: nodev1.NodeEvent_KIND_UPDATED,
					Node: &nodev1.Node{Info: &nodev1.NodeInfo{NodeId: fmt.Sprintf("%s-%d", t.Name(), d), AvailableTools: []string{fmt.Sprint("tool", round)}}},
				})
				if err != nil {
					t.Fatal(err)
				}
				if err := b.Publish(bus.NodeEventSubject(user(i)), raw); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := b.FlushTimeout(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	<-time.After(500 * time.Millisecond) // for what should not come
	took := time.Since(began)
	cancel()
	for range users {
		<-ended
	}
	most := int(took/(20*time.Millisecond)) + 2
	for i, n := range heard {
		if n == 0 || n > most {
			t.Errorf("user %d hears %d notifications in %v, of %d changes", i, n, took, 3*devices)
		}
	}
	if len(idle) > 1 {
		t.Errorf("%d notifications wait", len(idle))
	}
	if grown := heap() - before; grown > 4<<20 {
		t.Errorf("%d bytes are kept", grown)
	}
}

func user(i int) ids.UserID { return ids.UserID(fmt.Sprint("ana", i)) }

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
