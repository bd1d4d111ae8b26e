package node

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// pipeNet is a network of in-memory connections, so that the protocol's real durations run on synctest's clock.
type pipeNet struct {
	conns chan net.Conn
	over  chan struct{}
	once  sync.Once
}

func (p *pipeNet) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.over:
		return nil, net.ErrClosed
	}
}

func (p *pipeNet) Close() error   { p.once.Do(func() { close(p.over) }); return nil }
func (p *pipeNet) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipeNet) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// onClock runs a test with the protocol's own timing and synctest's clock.
func onClock(t *testing.T, tools map[string]Handler, test func(*testing.T, *running, *gateway), more ...func(*Options)) {
	synctest.Test(t, func(t *testing.T) {
		network := &pipeNet{conns: make(chan net.Conn), over: make(chan struct{})}
		g := &gateway{t: t, peers: make(chan *peer, 16)}
		server := &http.Server{Handler: http.HandlerFunc(g.serve)}
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = server.Serve(network)
		}()
		t.Cleanup(func() {
			_ = server.Close()
			<-served
		})
		o := Options{
			Server: "ws://gateway", UserID: "ana", NodeID: "desk-1",
			HTTPClient: &http.Client{Transport: &http.Transport{DialContext: network.dial, DisableKeepAlives: true}},
		}
		for _, set := range more {
			set(&o)
		}
		n := start(t, o, defaultTiming(), tools)
		test(t, n, g)
	})
}

func TestHeartbeatEvery7SecondsWithCurrentTasks(t *testing.T) {
	t.Parallel()
	tool := newGateInBubble()
	onClock(t, map[string]Handler{"gate": tool.handle}, func(t *testing.T, _ *running, g *gateway) {
		tool.open()
		p := g.register()
		began := time.Now()
		for beat := 1; beat <= 3; beat++ {
			p.expectWithin(`{"type":"heartbeat","status":"online","current_tasks":0}`, time.Minute)
			p.write(`{"type":"heartbeat_ack"}`)
			if since := time.Since(began); since != time.Duration(beat)*7*time.Second {
				t.Fatalf("beat %d came after %v", beat, since)
			}
		}
		p.write(callText("a", "gate"))
		<-tool.begun
		p.expectWithin(`{"type":"heartbeat","status":"online","current_tasks":1}`, time.Minute)
		p.write(`{"type":"heartbeat_ack"}`)
		close(tool.release)
		p.expect(answerText("a", "released"))
		p.expectWithin(`{"type":"heartbeat","status":"online","current_tasks":0}`, time.Minute)
	})
}

func TestAGatewayThatHangsIsLeftWithin15Seconds(t *testing.T) {
	t.Parallel()
	for _, answered := range []int{0, 1, 5} {
		onClock(t, nil, func(t *testing.T, _ *running, g *gateway) {
			p := g.register()
			hung := time.Now()
			for beat := 0; ; beat++ {
				frame, err := p.readWithin(2 * time.Minute)
				if err != nil {
					break
				}
				if frame != `{"type":"heartbeat","status":"online","current_tasks":0}` {
					t.Fatal(frame)
				}
				if beat < answered {
					p.write(`{"type":"heartbeat_ack"}`)
					hung = time.Now()
				}
			}
			if since := time.Since(hung); since != 13*time.Second {
				t.Fatalf("the node gave up after %v", since)
			}
			g.register()
			if since := time.Since(hung); since > 13500*time.Millisecond {
				t.Fatalf("the node came back after %v", since)
			}
		})
	}
}

// A frame that comes by a slow line is a sign of life, byte by byte.
func TestASlowFrameIsNoSilence(t *testing.T) {
	t.Parallel()
	onClock(t, nil, func(t *testing.T, _ *running, g *gateway) {
		p := g.register()
		read := make(chan struct{})
		go func() {
			defer close(read)
			for _, err := p.tryRead(); err == nil; _, err = p.tryRead() { // heartbeats
			}
		}()
		w, err := p.ws.Writer(t.Context(), websocket.MessageText)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(`{"type":"heartbeat_ack"`)); err != nil {
			t.Fatal(err)
		}
		for range 20 { // a minute and a half
			if _, err := w.Write(bytes.Repeat([]byte(" "), 8<<10)); err != nil { // more than the library keeps
				t.Fatal(err)
			}
			<-time.After(4500 * time.Millisecond)
		}
		if _, err := w.Write([]byte(`}`)); err != nil || w.Close() != nil {
			t.Fatal("the node has left: ", err)
		}
		p.hangUp()
		<-read
	})
}

func TestWhatWasWrittenGetsTheTimeOfASlowLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := alive{began: time.Now()}
		a.writes(MaxFrameBytes / 2)
		a.writes(MaxFrameBytes / 2)
		if d := a.backlog(); d < 59*time.Second || d > 61*time.Second {
			t.Errorf("10 MiB take %v", d)
		}
		<-time.After(50 * time.Second)
		if d := a.backlog(); d < 9*time.Second || d > 11*time.Second {
			t.Errorf("%v are left after 50 s", d)
		}
		<-time.After(50 * time.Second)
		if d := a.backlog(); d != 0 {
			t.Errorf("%v are left in the end", d)
		}
	})
}

// A machine that slept asks again before it takes silence for a hang. Here its clocks go on, as that of Windows does and the wall's.
func TestSleepIsNoSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := question{asked: time.Now(), wait: 6 * time.Second}
		<-time.After(6 * time.Second)
		if q.slept() {
			t.Error("it was awake")
		}
		<-time.After(time.Hour)
		if !q.slept() {
			t.Error("an hour is nothing")
		}
		stopped := question{asked: time.Now().Round(0).Add(-time.Hour), wait: 6 * time.Second} // by the wall clock alone
		if !stopped.slept() {
			t.Error("a clock that stops hides the sleep")
		}
	})
}

func TestRegisterUnansweredFor15SecondsIsTriedAgain(t *testing.T) {
	t.Parallel()
	onClock(t, nil, func(t *testing.T, _ *running, g *gateway) {
		began := time.Now()
		p := g.accept()
		p.read()
		if _, err := p.readWithin(time.Minute); err == nil || time.Since(began) != 15*time.Second {
			t.Fatalf("%v after %v", err, time.Since(began))
		}
		g.register()
	})
}

func TestCallOfALostConnectionEndsAfter60Seconds(t *testing.T) {
	t.Parallel()
	tool := newGateInBubble()
	ended := make(chan error, 1)
	onClock(t, map[string]Handler{"gate": func(ctx context.Context, c Call) (Result, error) {
		r, err := tool.handle(ctx, c)
		ended <- err
		return r, err
	}}, func(t *testing.T, _ *running, g *gateway) {
		tool.open()
		ended = make(chan error, 1)
		p := g.register()
		p.write(callText("a", "gate"))
		<-tool.begun
		began := time.Now()
		p.hangUp()
		p = g.register()
		for time.Since(began) < 50*time.Second {
			p.expectWithin(`{"type":"heartbeat","status":"online","current_tasks":1}`, time.Minute)
			p.write(`{"type":"heartbeat_ack"}`)
		}
		if err := <-ended; !errors.Is(err, ErrConnectionLost) {
			t.Fatal(err)
		}
		if since := time.Since(began); since != time.Minute {
			t.Fatalf("the call ended after %v", since)
		}
	})
}

func TestAGatewayThatDoesNotReadIsLeftAfter60Seconds(t *testing.T) {
	t.Parallel()
	onClock(t, nil, func(t *testing.T, _ *running, g *gateway) {
		p := g.register()
		began := time.Now()
		for p.ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"heartbeat_ack"}`)) == nil {
			<-time.After(time.Second)
		}
		// The first heartbeat, after 7 s, is the first frame that waits for a reader.
		if since := time.Since(began); since < 67*time.Second || since > 69*time.Second {
			t.Fatalf("the node left after %v", since)
		}
		g.register()
	})
}

func TestPausesGrowUntilAConnectionLasts(t *testing.T) {
	t.Parallel()
	const first = 500 * time.Millisecond
	var pauses chan time.Duration
	onClock(t, nil, func(t *testing.T, _ *running, g *gateway) {
		lose := func(after time.Duration) time.Duration {
			p := <-g.peers // which may take half a minute
			<-time.After(after)
			p.hangUp()
			return receive(t, pauses)
		}
		longest := time.Duration(0)
		for range 5 {
			for range 10 {
				longest = max(longest, lose(0))
			}
			// One draw of a long ceiling is this short by chance, five are not.
			if pause := lose(10 * time.Second); pause >= first {
				t.Fatalf("after a connection that lasted the pause is %v", pause)
			}
		}
		if longest <= 10*time.Second || longest >= 30*time.Second {
			t.Fatalf("the longest pause is %v", longest)
		}
	}, func(o *Options) {
		pauses = make(chan time.Duration, 1)
		o.OnState = func(s State) {
			if s.Phase == Disconnected {
				pauses <- s.Retry
			}
		}
	})
}

// newGateInBubble returns a gate whose channels are made by open, inside the bubble that uses them.
func newGateInBubble() *gate { return &gate{} }

func (g *gate) open() { g.begun, g.release = make(chan string, 256), make(chan struct{}) }

func (p *peer) readWithin(d time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), d)
	defer cancel()
	_, data, err := p.ws.Read(ctx)
	return string(data), err
}

func (p *peer) expectWithin(want string, d time.Duration) {
	p.t.Helper()
	got, err := p.readWithin(d)
	if err != nil || got != want {
		p.t.Fatalf("the node sent %s (%v), want %s", got, err, want)
	}
}
