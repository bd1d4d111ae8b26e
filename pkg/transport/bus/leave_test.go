package bus_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
)

// answer serves requests until the test ends.
func answer(t *testing.T) chan *nats.Msg {
	t.Helper()
	requests := make(chan *nats.Msg, 1000)
	quit := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		for {
			select {
			case m := <-requests:
				_ = m.Respond([]byte("here"))
			case <-quit:
				return
			}
		}
	})
	t.Cleanup(func() {
		close(quit)
		work.Wait()
	})
	return requests
}

func request(t *testing.T, c *bus.Conn, subject string) error {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err := c.RequestWithContext(ctx, subject, nil)
	return err
}

func TestLeaveAnswersOrRefusesEveryRequest(t *testing.T) {
	t.Parallel()
	url := testkit.NATS(t)
	from, to := connect(t, url), connect(t, url)
	requests := answer(t)
	subject := testkit.Prefix(t) + ".x"
	for range 100 {
		sub, err := to.ChanQueueSubscribe(subject, "q", requests)
		if err != nil {
			t.Fatal(err)
		}
		if err := to.Flush(); err != nil {
			t.Fatal(err)
		}
		var callers sync.WaitGroup
		for range 8 {
			callers.Go(func() {
				for {
					err := request(t, from, subject)
					if errors.Is(err, nats.ErrNoResponders) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		to.Leave(sub)
		callers.Wait()
	}
}

func TestLeaveWhileTheBusIsAwayLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	server := testkit.OwnNATS(t)
	from, to := connect(t, server.URL()), connect(t, server.URL())
	requests := answer(t)
	subscribe := func(subject string) *nats.Subscription {
		sub, err := to.ChanQueueSubscribe(subject, "q", requests)
		if err != nil {
			t.Fatal(err)
		}
		return sub
	}
	before, during, stays := subscribe("before"), subscribe("during"), subscribe("stays")
	defer to.Leave(stays)
	to.Leave(before)
	server.Stop()
	testkit.Eventually(t, 10*time.Second, func() bool { return !to.Up() }, "the connection notices that the server is gone")
	to.Leave(during)
	server.Start()
	testkit.Eventually(t, 20*time.Second, func() bool { return from.Up() && request(t, from, "stays") == nil }, "what stayed is back")
	for _, subject := range []string{"before", "during"} {
		if err := request(t, from, subject); !errors.Is(err, nats.ErrNoResponders) {
			t.Errorf("%s: %v", subject, err)
		}
	}
}
