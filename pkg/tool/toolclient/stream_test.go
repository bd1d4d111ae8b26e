package toolclient_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolclient"
)

// The gateway dies with a call: nobody knows what became of it, so nobody sends it again.
func TestBrokenStream(t *testing.T) {
	t.Parallel()
	a, b := serve(t, "a", silent), serve(t, "b", silent)
	c := dial(t, toolclient.Patience{}, a, b)
	ended := make(chan error, 10)
	for range 10 {
		done := calling(t.Context(), c, call("x"))
		go func() { ended <- (<-done).err }()
	}
	testkit.Eventually(t, 5*time.Second, func() bool { return total(a, b) == 10 }, "all calls arrive")
	began := time.Now()
	a.kill()
	for range 5 {
		if err := <-ended; !errors.Is(err, errs.HolderLost) || errs.Retryable(err) {
			t.Errorf("got %v", err)
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("callers heard after %v", took)
	}
	select {
	case err := <-ended:
		t.Errorf("a call on the other gateway ended: %v", err)
	default:
	}
	if total(a, b) != 10 {
		t.Errorf("calls were sent again: %d in all", total(a, b))
	}
	b.kill()
	for range 5 {
		if err := <-ended; !errors.Is(err, errs.HolderLost) {
			t.Errorf("got %v", err)
		}
	}
}

// What was still waiting to be written goes elsewhere, and nothing goes twice.
func TestUnwrittenCallsMoveOn(t *testing.T) {
	t.Parallel()
	stuck := make(chan struct{})
	a := serve(t, "a", func(*received) { <-stuck }) // reads one call, then none
	b := serve(t, "b", answers)
	c := dial(t, toolclient.Patience{}, a, b)
	const n = 60
	large := call("x")
	large.ArgumentsJson = bytes.Repeat([]byte(" "), 300<<10)
	var mu sync.Mutex
	var answered, lost int
	var calls sync.WaitGroup
	for range n {
		calls.Go(func() {
			_, err := c.Call(t.Context(), large)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				answered++
			case errors.Is(err, errs.HolderLost):
				lost++
			default:
				t.Error(err)
			}
		})
	}
	testkit.Eventually(t, 10*time.Second, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return answered == n/2 && len(a.seen()) == 1
	}, "the calls of b are answered, those of a wait")
	close(stuck)
	a.kill()
	calls.Wait()
	// Some were on their way to a, most were not.
	if answered+lost != n || lost == 0 || answered <= n/2 {
		t.Errorf("%d answered, %d lost of %d", answered, lost, n)
	}
	if len(b.seen()) != answered {
		t.Errorf("b saw %d calls, answered %d", len(b.seen()), answered)
	}
}

// A call that its caller gives up before it was written has reached nobody.
func TestGivenUpUnwritten(t *testing.T) {
	t.Parallel()
	stuck := make(chan struct{})
	g := serve(t, "gw", func(*received) { <-stuck })
	c := dial(t, toolclient.Patience{}, g)
	large := call("large")
	large.ArgumentsJson = bytes.Repeat([]byte(" "), 8<<20)
	open, cancelOpen := context.WithCancel(t.Context())
	first := calling(open, c, call("first"))
	testkit.Eventually(t, 5*time.Second, func() bool { return len(g.seen()) == 1 }, "the first call arrives")
	// The second fills what gRPC takes, the third is on its way into it.
	second, third := calling(open, c, large), calling(open, c, large)
	testkit.Eventually(t, 5*time.Second, func() bool { return toolclient.Writing(c, 3) }, "the third call is being written")
	late, cancelLate := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancelLate()
	if _, err := c.Call(late, call("late")); !errors.Is(err, errs.BusUnavailable) || !errs.Retryable(err) {
		t.Errorf("the deadline passed: %v", err)
	}
	given, giveUp := context.WithCancel(t.Context())
	done := calling(given, c, call("given up"))
	testkit.Eventually(t, 5*time.Second, func() bool { return toolclient.Waiting(c) == 1 }, "the call waits")
	giveUp()
	if got := <-done; !errors.Is(got.err, errs.Cancelled) {
		t.Errorf("given up: %v", got.err)
	}
	if n := toolclient.Waiting(c); n != 0 {
		t.Errorf("%d requests still wait", n)
	}
	cancelOpen()
	<-first
	<-second
	<-third
	close(stuck)
}

func TestReconnect(t *testing.T) {
	t.Parallel()
	g := serve(t, "gw", answers)
	c := dial(t, toolclient.Patience{}, g)
	g.kill()
	testkit.Eventually(t, 5*time.Second, func() bool { return c.Ready(t.Context()) != nil }, "the client notices")
	// A call made meanwhile waits for the gateway.
	done := calling(t.Context(), c, call("x"))
	g.start()
	if got := <-done; got.err != nil {
		t.Error(got.err)
	}
	if err := c.Ready(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNoGateway(t *testing.T) {
	t.Parallel()
	g := serve(t, "gw", answers)
	g.kill()
	c := dialWith(t, toolclient.Options{Targets: []string{g.addr}, Dial: plain, Patience: brief}, 0)
	_, err := c.Call(t.Context(), call("x"))
	if !errors.Is(err, errs.BusUnavailable) || !errs.Retryable(err) {
		t.Errorf("got %v", err)
	}
	if err := c.Ready(t.Context()); err == nil {
		t.Error("ready without a gateway")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Call(ctx, call("x")); !errors.Is(err, errs.Cancelled) {
		t.Errorf("given up at once: %v", err)
	}
}

// A gateway that shuts down in good order waits for the calls on it, and not for the client.
func TestGracefulStop(t *testing.T) {
	t.Parallel()
	blocked := make(chan *received, 1)
	a := serve(t, "a", func(r *received) { blocked <- r })
	c := dial(t, toolclient.Patience{}, a)
	done := calling(t.Context(), c, call("x"))
	held := <-blocked

	drained := make(chan struct{})
	go func() {
		defer close(drained)
		a.drain()
	}()
	testkit.Eventually(t, 5*time.Second, func() bool { return toolclient.Up(c) == 0 }, "new calls go elsewhere")
	select {
	case <-drained:
		t.Error("the gateway did not wait for the call")
	default:
	}
	held.answer("{}")
	if got := <-done; got.err != nil {
		t.Error(got.err)
	}
	select {
	case <-drained:
	case <-time.After(5 * time.Second):
		t.Error("the client keeps the gateway from stopping")
	}
}

// A call on a gateway that is leaving can still be given up.
func TestCancelDuringGracefulStop(t *testing.T) {
	t.Parallel()
	a := serve(t, "a", silent)
	c := dial(t, toolclient.Patience{}, a)
	ctx, cancel := context.WithCancel(t.Context())
	done := calling(ctx, c, call("x"))
	testkit.Eventually(t, 5*time.Second, func() bool { return len(a.seen()) == 1 }, "the call arrives")
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		a.drain()
	}()
	testkit.Eventually(t, 5*time.Second, func() bool { return toolclient.Up(c) == 0 }, "the client notices")
	cancel()
	<-done
	testkit.Eventually(t, 5*time.Second, func() bool { return len(a.cancelled()) == 1 }, "the gateway hears of it")
	<-drained
}

// Gateways are replaced one after the other under load, and no call is lost.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	gateways := []*gateway{serve(t, "a", answers), serve(t, "b", answers), serve(t, "c", answers)}
	c := dial(t, toolclient.Patience{}, gateways...)
	stop := make(chan struct{})
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := c.Call(t.Context(), call("x")); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 2 {
		for _, g := range gateways {
			g.drain()
			g.start()
			before := len(g.seen())
			testkit.Eventually(t, 10*time.Second, func() bool { return len(g.seen()) > before }, "gateway %s has calls again", g.name)
		}
	}
	close(stop)
	calls.Wait()
}

func TestServiceToken(t *testing.T) {
	t.Parallel()
	right := auth.ServiceAuth{Token: "a-token-for-services"}
	options, err := right.ServerOptions()
	if err != nil {
		t.Fatal(err)
	}
	g := serve(t, "gw", answers, options...)
	for name, identity := range map[string]auth.ServiceAuth{"right": right, "wrong": {Token: "another-token-for-services"}, "none": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			show, err := identity.DialOptions()
			if err != nil {
				t.Fatal(err)
			}
			c := dialWith(t, toolclient.Options{Targets: []string{g.addr}, Dial: show, Patience: brief}, map[bool]int{true: 1}[name == "right"])
			_, err = c.Call(t.Context(), call("x"))
			switch {
			case name == "right" && err != nil:
				t.Error(err)
			case name != "right" && (!errors.Is(err, errs.BusUnavailable) || !errs.Retryable(err)):
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]toolclient.Options{
		"no target":      {Dial: plain},
		"no port":        {Dial: plain, Targets: []string{"gateway"}},
		"no host":        {Dial: plain, Targets: []string{":9080"}},
		"another scheme": {Dial: plain, Targets: []string{"unix:///x"}},
		"no credentials": {Targets: []string{"gateway:9080"}},
		"bad options":    {Dial: append([]grpc.DialOption{grpc.WithDefaultServiceConfig("{")}, plain...), Targets: []string{"gateway:9080"}},
	} {
		if c, err := toolclient.Dial(o); err == nil {
			c.Close()
			t.Errorf("%s is accepted", name)
		}
	}
	for _, target := range []string{"127.0.0.1:1", "[::1]:1", "localhost:1", "dns:///localhost:1"} {
		c, err := toolclient.Dial(toolclient.Options{Dial: plain, Targets: []string{target}})
		if err != nil {
			t.Error(err)
			continue
		}
		c.Close()
	}
}

// lookups answers look-ups of names.
type lookups struct {
	mu    sync.Mutex
	names map[string][]string
	asked int
}

func (l *lookups) set(name string, addresses ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names[name] = addresses
}

func (l *lookups) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked
}

func (l *lookups) lookup(_ context.Context, name string) ([]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	if l.names[name] == nil {
		return nil, fmt.Errorf("lookup %s: no such host", name)
	}
	return l.names[name], nil
}

// A gateway that drains ends its streams once nothing is open on them. What it had not read by then was not delivered, so it
// goes elsewhere; and the gateway is left alone for a while.
func TestADrainingGatewayEndsItsStreams(t *testing.T) {
	t.Parallel()
	leaving := make(chan struct{})
	a, b := serve(t, "a", silent), serve(t, "b", answers)
	a.leave = leaving
	c := dial(t, toolclient.Patience{}, a, b)
	var unread []<-chan outcome
	testkit.Eventually(t, 5*time.Second, func() bool {
		unread = append(unread, calling(t.Context(), c, call("x")))
		return len(a.seen()) > 0 // which it takes no notice of
	}, "a call is sent to a")
	close(leaving)
	for _, done := range unread {
		if got := <-done; got.err != nil || got.answer.GetNodeId() != "b" {
			t.Errorf("%v, %v", got.answer, got.err)
		}
	}
	before := a.opened()
	began := time.Now()
	for time.Since(began) < time.Second/2 {
		if got := <-calling(t.Context(), c, call("x")); got.err != nil {
			t.Fatal(got.err)
		}
	}
	if more := a.opened() - before; more > 1 {
		t.Errorf("a was asked for %d more streams within half a second", more)
	}
}
