package hub_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// client is the socket and the dialect of a client that a test speaks for.
type client struct {
	codec.Codec

	mu     sync.Mutex
	seen   time.Time
	ends   time.Time
	pinged []time.Time
	closed conn.Reason
}

func (c *client) Ping(time.Time) []byte { return []byte("ping") }

func (c *client) Send([]byte, conn.Note) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pinged = append(c.pinged, time.Now())
	return nil
}

func (c *client) Close(r conn.Reason)          { c.closed = r }
func (c *client) Reason() conn.Reason          { return c.closed }
func (c *client) Gone() bool                   { return false }
func (c *client) LastSeen() time.Time          { return c.seen }
func (c *client) Ends() time.Time              { return c.ends }
func (c *client) Queued() int                  { return 0 }
func (c *client) EndIfOver(now time.Time) bool { return !c.ends.IsZero() && !now.Before(c.ends) }

const (
	pingEvery = 20 * time.Second
	silence   = 60 * time.Second
)

// watched is a node that a test looks after as a pod's pulse does.
type watched struct {
	*client
	hub   *hub.Hub
	node  *hub.Node
	looks int // how often it was the node's turn
	swept int
}

func watch() *watched {
	c := &client{seen: time.Now()}
	w := &watched{client: c, hub: hub.New(), node: hub.NewNode("ana", "extension", &nodev1.NodeInfo{NodeId: "n", MaxConcurrentTasks: 1}, c, c)}
	w.hub.Add(w.node)
	return w
}

// pass lets seconds pass; each has a beat of the pulse.
func (w *watched) pass(seconds int, each func(second int)) {
	for s := range seconds {
		each(s)
		<-time.After(time.Second)
		for _, n := range w.hub.DueVitals(time.Now()) {
			w.looks++
			n.Look(time.Now(), hub.Vitals{PingEvery: pingEvery, SilenceLimit: silence, Sweep: func(*hub.Node, time.Time) { w.swept++ }})
		}
	}
}

// A client that speaks by itself is pinged only where it has said nothing for the interval, and one that only answers pings
// at each interval.
func TestPingsGoToThoseWhoSayNothing(t *testing.T) {
	t.Parallel()
	const minutes = 10
	for name, c := range map[string]struct {
		says     int // every so many seconds; 0 for nothing by itself
		from, to int // how many pings that makes
	}{
		"says nothing by itself":          {0, minutes*3 - 1, minutes * 3},
		"a heartbeat every half minute":   {30, minutes*2 - 1, minutes*2 + 2},
		"a heartbeat every five seconds":  {5, 0, 1},
		"asks every second":               {1, 0, 1},
		"a heartbeat as often as a ping ": {20, 0, minutes*3 + 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := watch()
				w.pass(minutes*60, func(s int) {
					if len(w.pinged) > 0 && time.Since(w.pinged[len(w.pinged)-1]) < 2*time.Second || c.says > 0 && s%c.says == 0 {
						w.seen = time.Now()
					}
				})
				if n := len(w.pinged); n < c.from || n > c.to {
					t.Errorf("%d pings, want %d to %d", n, c.from, c.to)
				}
				for i := 1; i < len(w.pinged); i++ {
					if gap := w.pinged[i].Sub(w.pinged[i-1]); gap < pingEvery-2*time.Second {
						t.Errorf("pings are %v apart", gap)
					}
				}
				if w.looks > minutes*60/5+2 {
					t.Errorf("the pulse looked %d times in %d minutes", w.looks, minutes)
				}
			})
		})
	}
}

// No silence between client and server is longer than the interval and a beat of the pulse: an extension's worker would sleep.
func TestNobodyHearsNothingForLong(t *testing.T) {
	t.Parallel()
	for _, says := range []int{7, 13, 19, 20, 21, 29, 30, 45} {
		synctest.Test(t, func(t *testing.T) {
			w := watch()
			last, longest := time.Now(), time.Duration(0)
			spoke := func(at time.Time) {
				longest = max(longest, at.Sub(last))
				last = at
			}
			known := 0
			w.pass(600, func(s int) {
				if n := len(w.pinged); n > known {
					spoke(w.pinged[n-1])
					known, w.seen = n, time.Now()
				}
				if s%says == 0 {
					spoke(time.Now())
					w.seen = time.Now()
				}
			})
			if longest > pingEvery+2*time.Second {
				t.Errorf("a client that speaks every %d s: nothing for %v", says, longest)
			}
		})
	}
}

// However seldom the pulse looks at a node, silence and the token's end close it in time, also where the token changed meanwhile.
func TestSilenceAndTheTokensEndAreNoticedInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watch()
		w.pass(59, func(int) {})
		if w.closed != conn.Open {
			t.Fatal(w.closed)
		}
		w.pass(3, func(int) {})
		if w.closed != conn.NoHeartbeat {
			t.Error("a silent node was not closed:", w.closed)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		w := watch()
		w.ends = time.Now().Add(7 * time.Second)
		w.pass(9, func(int) { w.seen = time.Now() })
		if w.looks > 3 || !w.EndIfOver(time.Now()) {
			t.Errorf("%d looks", w.looks)
		}
		over := w.looks
		w.ends = time.Now().Add(time.Hour)
		w.node.Expires()
		w.pass(2, func(int) { w.seen = time.Now() })
		if w.looks == over {
			t.Error("nobody looked at the new token's end")
		}
	})
}

// nobody hears of a call.
type nobody struct{}

func (nobody) Status(calls.Status) {}
func (nobody) Progress([]byte)     {}
func (nobody) Done(b *frame.Buffer, _ *errs.Error) {
	if b != nil {
		b.Release()
	}
}

// A node is looked at every second while a call is open, and counted so, and then seldom again.
func TestOpenCallsAreKeptAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watch()
		w.pass(5, func(int) {})
		w.node.Start(calls.Call{ID: "a", Kind: codec.ToolCall, Frame: []byte("{}"), Deadline: time.Now().Add(time.Hour)}, nobody{})
		w.pass(10, func(int) {})
		if w.swept != 10 || w.hub.Counts().GetPendingRequests() != 1 {
			t.Errorf("swept %d times in 10 s, %v", w.swept, w.hub.Counts())
		}
		w.node.Calls.Answer(ids.CallID("a"), frame.Wrap(nil))
		w.pass(10, func(int) {})
		if w.swept > 11 || w.hub.Counts().GetPendingRequests() != 0 {
			t.Errorf("swept %d times, %v", w.swept, w.hub.Counts())
		}
	})
}

// A change is told at the next beat, and a node of which there is no news is not asked until its turn.
func TestBeatsAreAskedForWhenDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watch()
		told, asked := 0, 0
		pass := func(seconds int) {
			for range seconds {
				<-time.After(time.Second)
				w.seen = time.Now()
				for _, n := range w.hub.DueBeats(time.Now()) {
					asked++
					if n.BeatDue(time.Now(), 30*time.Second) {
						told++
					}
				}
			}
		}
		pass(5)
		if told != 0 {
			t.Error("told of before it was registered")
		}
		w.node.SetEpoch(1)
		pass(90)
		if told != 3 || asked > 10 {
			t.Errorf("told %d times, asked %d times in 90 s", told, asked)
		}
		w.node.SetLoad(nodev1.NodeStatus_NODE_STATUS_BUSY, 1)
		before := told
		pass(1)
		if told != before+1 {
			t.Error("a change was not told")
		}
		w.node.Unregistered.Store(true)
		w.node.SetEpoch(2)
		before = told
		pass(5)
		if told != before+5 {
			t.Errorf("what the registry does not know was told %d times in 5 s", told-before)
		}
	})
}
