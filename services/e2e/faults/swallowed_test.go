package faults_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	subjects "github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/e2e/cluster"
)

// The bus loses every other call on its way. Each caller is told that it was not delivered, and tries again; and when the lost
// calls come after all, much too late, none of them runs.
func TestCallsThatTheBusLosesAreNotDelivered(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Gateways: 3})
	l := &cluster.Ledger{User: "u", Node: "n"}
	n := c.Gateways[0].Extension(t, "u", "n")
	n.Silent()
	n.Serve(l.See)
	certain := func() bool { // a router says so once it has been up for some seconds
		lost := loses(t, c)
		defer lost.stop(t)
		return cluster.Unary(t.Context(), c.Gateways[1], call("u", "n")).Reason != "HOLDER_LOST" && lost.count() > 0
	}
	testkit.Eventually(t, 30*time.Second, certain, "a router knows what the others have seen")

	lost := loses(t, c)
	stop := l.Load(t.Context(), 16, func(n, attempt int) (cluster.Way, *cluster.Gateway) {
		return cluster.Ways[n%len(cluster.Ways)], c.Gateways[1+(n/len(cluster.Ways)+attempt)%2]
	})
	testkit.Eventually(t, 20*time.Second, func() bool { return lost.count() >= 40 }, "calls are lost")
	lost.stop(t)
	stop()
	seen := l.Answered()
	lost.replay(t)
	if got := cluster.Unary(t.Context(), c.Gateways[1], call("u", "n")); got.Reason != "" || got.Err != nil { // which comes after them
		t.Errorf("a call afterwards: %v", got)
	}
	l.Check(t)
	if l.Answered() != seen || l.Lost() < 40 {
		t.Errorf("%d calls were lost, as their callers heard; %d were answered, and %d in the end", l.Lost(), seen, l.Answered())
	}
}

// swallower takes calls to the node n in place of its holder, and keeps them for itself.
type swallower struct {
	conn *nats.Conn
	sub  *nats.Subscription

	mu   sync.Mutex
	kept []*nats.Msg
}

func loses(t *testing.T, c *cluster.Cluster) *swallower {
	t.Helper()
	conn, err := nats.Connect(testkit.As(access.Gateway, c.NATS.URL()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	s := &swallower{conn: conn}
	subject := subjects.NodePrefix(ids.Node{User: "u", Node: "n"}) + subjects.SuffixCall
	s.sub, err = conn.QueueSubscribe(subject, subjects.HolderQueue, func(m *nats.Msg) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.kept = append(s.kept, m)
	})
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *swallower) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.kept)
}

// stop hands the calls that come from now on to the holder.
func (s *swallower) stop(t *testing.T) {
	t.Helper()
	if err := s.sub.Unsubscribe(); err == nil {
		err = s.conn.Flush()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// replay delivers what was swallowed, and returns once the bus has it.
func (s *swallower) replay(t *testing.T) {
	t.Helper()
	for _, m := range s.kept {
		late := &nats.Msg{Subject: m.Subject, Reply: m.Reply, Header: m.Header, Data: m.Data}
		if err := s.conn.PublishMsg(late); err != nil {
			t.Error(fmt.Errorf("replay: %w", err))
		}
	}
	if err := s.conn.Flush(); err != nil {
		t.Fatal(err)
	}
}
