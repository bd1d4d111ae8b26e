package fanout_test

import (
	"sync"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/fanout"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// socket keeps what is sent to a client. A fan-out does nothing else with one.
type socket struct {
	hub.Socket
	mu     sync.Mutex
	frames []string
}

func (s *socket) Send(frame []byte, _ conn.Note) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frames = append(s.frames, string(frame))
	return nil
}

func (s *socket) heard() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.frames)
}

func pod(t *testing.T) *fanout.Fanout {
	t.Helper()
	b, err := bus.Connect(t.Context(), bus.Options{URL: testkit.NATS(t)})
	if err != nil {
		t.Fatal(err)
	}
	f := fanout.New(b, obs.OrDiscard(nil))
	t.Cleanup(func() {
		f.Close()
		b.Close()
	})
	return f
}

// follow has a new client follow a topic.
func follow(t *testing.T, f *fanout.Fanout, topic fanout.Topic, name string) (*hub.Client, *socket) {
	t.Helper()
	s := &socket{}
	c := &hub.Client{Name: name, Conn: s}
	if err := f.Join(t.Context(), topic, c); err != nil {
		t.Fatal(err)
	}
	return c, s
}

func expect(t *testing.T, s *socket, frames ...string) {
	t.Helper()
	testkit.Eventually(t, 10*time.Second, func() bool { return s.heard() >= len(frames) }, "the frames come")
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, want := range frames {
		if len(s.frames) != len(frames) || s.frames[i] != want {
			t.Fatalf("heard %q, want %q", s.frames, frames)
		}
	}
}

func write(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func TestFramesReachFollowersOnEveryPodAndNobodyElse(t *testing.T) {
	t.Parallel()
	here, there := pod(t), pod(t)
	user := fanout.User(ids.UserID(testkit.Prefix(t)))
	room := fanout.Of("room", testkit.Prefix(t))
	_, one := follow(t, here, user, "one")
	_, two := follow(t, there, user, "two")
	_, inRoom := follow(t, there, room, "three")
	write(t, here.ToAll(user, []byte("to the user")))
	write(t, here.ToOne(user, "two", []byte("to two")))
	write(t, here.ToOne(user, "one", []byte("to one")))
	write(t, here.ToAll(room, []byte("to the room")))
	expect(t, one, "to the user", "to one")
	expect(t, two, "to the user", "to two")
	expect(t, inRoom, "to the room")
}

func TestWhoLeavesHearsNothingMore(t *testing.T) {
	t.Parallel()
	here, there := pod(t), pod(t)
	topic := fanout.Of("room", testkit.Prefix(t))
	gone, left := follow(t, here, topic, "gone")
	stays, other := follow(t, here, topic, "stays")
	here.Leave(topic, gone)
	here.Leave(topic, gone)
	here.Leave(fanout.Of("room", "nobody's"), gone)
	write(t, there.ToAll(topic, []byte("a")))
	expect(t, other, "a")
	here.Leave(topic, stays)
	_, back := follow(t, here, topic, "back")
	write(t, there.ToAll(topic, []byte("b")))
	expect(t, back, "b")
	expect(t, other, "a")
	expect(t, left)
}

func TestTopicsAreToldApart(t *testing.T) {
	t.Parallel()
	topics := []fanout.Topic{
		fanout.User("a"), fanout.User("a.b"), fanout.Of("room", "a"), fanout.Of("run", "a"), fanout.Of("room", "a.b"), fanout.Of("room.a", "b"),
	}
	seen := map[fanout.Topic]bool{}
	for _, topic := range topics {
		if seen[topic] {
			t.Errorf("%v stands for two things", topic)
		}
		seen[topic] = true
	}
	if again := fanout.Of("room", "a"); !seen[again] {
		t.Error("a topic that is named again is another one")
	}
}
