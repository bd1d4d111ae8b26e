package node

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

func TestReconnectsAfterWhatAnotherAttemptCanChange(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*peer){
		"1000":      func(p *peer) { p.close(1000, "") },
		"1001":      func(p *peer) { p.close(1001, "going away") },
		"1012":      func(p *peer) { p.close(1012, "drain") },
		"1013":      func(p *peer) { p.close(1013, "overloaded") },
		"4008":      func(p *peer) { p.close(4008, "no heartbeat") },
		"4009 once": func(p *peer) { p.close(4009, "too many nodes") },
		"lost":      func(p *peer) { p.hangUp() },
		"frame of 10 MiB and a byte": func(p *peer) {
			p.write(`{"type":"` + strings.Repeat("x", MaxFrameBytes+1-len(`{"type":""}`)) + `"}`)
			if _, err := p.tryRead(); websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
				p.t.Errorf("the node closed with %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGateway(t)
			start(t, options(g), quick(), nil)
			end(g.register())
			g.register().quiet()
		})
	}
}

func TestEndsWhereAnotherAttemptCannotHelp(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]error{4001: ErrMissingID, 4003: ErrNotAllowed, 4409: ErrSuperseded} {
		t.Run(want.Error(), func(t *testing.T) {
			t.Parallel()
			g := newGateway(t)
			n := start(t, options(g), quick(), nil)
			g.accept().close(code, "because")
			err := n.wait()
			var closed *ClosedError
			if !errors.Is(err, want) || !errors.As(err, &closed) || closed.Code != code || closed.Reason != "because" {
				t.Fatalf("%v", err)
			}
		})
	}
}

// What superseded the node may be an attempt that it gave up itself, and that a gateway took late. Another program with the
// node's id is superseded in turn no more than once.
func TestComesBackOnceWhereItMayHaveSupersededItself(t *testing.T) {
	t.Parallel()
	for name, giveUp := range map[string]struct {
		timing func(*timing)
		serve  func(g *gateway, stalled http.ResponseWriter, r *http.Request)
	}{
		"dial": {func(t *timing) { t.dial = 500 * time.Millisecond }, func(_ *gateway, _ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}},
		"register": {func(t *timing) { t.register = 500 * time.Millisecond }, func(g *gateway, w http.ResponseWriter, r *http.Request) {
			g.server.Config.Handler.ServeHTTP(w, r)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGateway(t)
			var attempts atomic.Int32
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if attempts.Add(1) == 1 {
					giveUp.serve(g, w, r)
					return
				}
				g.server.Config.Handler.ServeHTTP(w, r)
			}))
			t.Cleanup(front.Close)
			o, timing := options(g), quick()
			o.Server = front.URL
			giveUp.timing(&timing)
			n := start(t, o, timing, nil)
			if name == "register" {
				p := g.accept()
				_ = p.read()
				if _, err := p.tryRead(); err == nil {
					t.Error("the node did not give up")
				}
				p.hangUp()
			}
			g.register().close(4409, "superseded")
			g.register().close(4409, "superseded")
			if err := n.wait(); !errors.Is(err, ErrSuperseded) {
				t.Errorf("the second time: %v", err)
			}
			if got := attempts.Load(); got != 3 {
				t.Errorf("%d attempts", got)
			}
		})
	}
}

func TestTooManyNodesEndsAfterSeveralAttempts(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	n := start(t, options(g), quick(), nil)
	for range maxCrowdedAttempts - 1 {
		g.accept().close(4009, "too many nodes")
	}
	g.register().close(1012, "") // being let in begins the count anew
	for range maxCrowdedAttempts {
		g.accept().close(4009, "too many nodes")
	}
	if err := n.wait(); !errors.Is(err, ErrTooManyNodes) {
		t.Fatal(err)
	}
}

func TestHandshakeRefused(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 403} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "token expired", status)
		}))
		t.Cleanup(server.Close)
		err := start(t, Options{Server: server.URL, UserID: "ana"}, quick(), nil).wait()
		var refused *RefusedError
		if !errors.Is(err, ErrNotAllowed) || !errors.As(err, &refused) || refused.Status != status || refused.Body != "token expired" {
			t.Fatalf("%d: %v", status, err)
		}
	}
}

func TestRetriesWhileTheServerIsUnavailable(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	var attempts atomic.Int32
	inner := g.server.Config.Handler
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch attempts.Add(1) {
		case 1:
			http.Error(w, "draining", http.StatusServiceUnavailable)
		case 2:
			http.NotFound(w, r) // a proxy whose gateways are being replaced
		default:
			inner.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(front.Close)
	o := options(g)
	o.Server = front.URL
	start(t, o, quick(), nil)
	g.register().quiet()
}

func TestTokenIsAskedForEachConnection(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	var asked atomic.Int32
	o := options(g)
	o.Token = func(context.Context) (string, error) {
		switch asked.Add(1) {
		case 1:
			return "one", nil
		case 2:
			return "", errors.New("the token file is being replaced")
		case 3:
			return "two", nil
		}
		return "", nil
	}
	start(t, o, quick(), nil)
	for _, want := range []string{"Bearer one", "Bearer two", ""} {
		p := g.register()
		if got := p.request.Header.Get("Authorization"); got != want {
			t.Fatalf("Authorization %q, want %q", got, want)
		}
		p.close(1012, "")
	}
	g.register()
}

func TestTokenThatIsNotAllowedEnds(t *testing.T) {
	t.Parallel()
	o := options(newGateway(t))
	o.Token = func(context.Context) (string, error) { return "", ErrNotAllowed }
	if err := start(t, o, quick(), nil).wait(); !errors.Is(err, ErrNotAllowed) {
		t.Fatal(err)
	}
}

func TestStaticToken(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	o := options(g)
	o.Token = StaticToken("fixed")
	start(t, o, quick(), nil)
	if got := g.accept().request.Header.Get("Authorization"); got != "Bearer fixed" {
		t.Fatal(got)
	}
}

func TestIDsAreEscapedInTheURL(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	o := options(g)
	o.Server += "/prefix/"
	o.UserID, o.NodeID = "a&node_id=b *>", "../é #?"
	start(t, o, quick(), nil)
	r := g.accept().request
	if r.URL.Path != "/prefix/ws/desktop" || r.URL.Query().Get("client_id") != "desktop_a&node_id=b *>" ||
		r.URL.Query().Get("node_id") != "../é #?" || len(r.URL.Query()) != 2 {
		t.Fatal(r.URL)
	}
}

func TestStatesInOrder(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	var mu sync.Mutex
	var states []State
	o := options(g)
	o.OnState = func(s State) {
		mu.Lock()
		defer mu.Unlock()
		states = append(states, s)
	}
	n := start(t, o, quick(), nil)
	first := n.Connected()
	p := g.accept()
	p.read()
	select {
	case <-first:
		t.Fatal("connected before registered")
	default:
	}
	p.write(`{"type":"registered","node_id":"desk-1","success":true}`)
	receive(t, first)
	receive(t, n.Connected())
	p.close(1012, "drain")
	p = g.accept() // the node has left Connected
	second := n.Connected()
	select {
	case <-second:
		t.Fatal("still connected")
	default:
	}
	p.read()
	p.write(`{"type":"registered","node_id":"desk-1","success":true}`)
	receive(t, second)
	p.close(4409, "superseded")
	err := n.wait()

	mu.Lock()
	defer mu.Unlock()
	var phases []string
	for _, s := range states {
		phases = append(phases, string(s.Phase))
	}
	if got := strings.Join(phases, " "); got != "connecting connected disconnected connecting connected stopped" {
		t.Fatal(got)
	}
	var closed *ClosedError
	if lost := states[2]; !errors.As(lost.Err, &closed) || closed.Code != 1012 || lost.Retry < 0 || lost.Retry > time.Second {
		t.Fatalf("%+v", lost)
	}
	if !errors.Is(err, ErrSuperseded) || !errors.Is(states[5].Err, ErrSuperseded) {
		t.Fatalf("%v, %+v", err, states[5])
	}
}

func TestStopsWhileNobodyAnswers(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	o := options(g)
	o.Server = "ws://127.0.0.1:1" // nothing listens on tcpmux
	disconnected := make(chan State, 64)
	o.OnState = func(s State) { offer(disconnected, s) }
	slow := quick()
	slow.retryBase, slow.retryMax = time.Hour, time.Hour
	n := start(t, o, slow, nil)
	receive(t, disconnected) // connecting
	if s := receive(t, disconnected); s.Phase != Disconnected || s.Err == nil {
		t.Fatalf("%+v", s)
	}
	n.stop()
	if err := n.wait(); err != nil {
		t.Fatal(err)
	}
}

func TestRunsOnce(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	n := start(t, options(g), quick(), nil)
	g.register()
	if err := n.Run(t.Context()); !errors.Is(err, ErrRan) {
		t.Fatal(err)
	}
}

func TestBackoffIsFullJitterUnderAGrowingCeiling(t *testing.T) {
	t.Parallel()
	standard := defaultTiming()
	ceilings := []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second, 30 * time.Second}
	highest := make([]time.Duration, len(ceilings))
	for range 2000 {
		b := NewBackoff()
		for i, ceiling := range ceilings {
			d := b.Next()
			if d < 0 || d >= ceiling {
				t.Fatalf("attempt %d waits %v of %v", i, d, ceiling)
			}
			highest[i] = max(highest[i], d)
		}
		b.Reset()
		if d := b.Next(); d >= ceilings[0] {
			t.Fatalf("after reset %v", d)
		}
	}
	for i, ceiling := range ceilings {
		if highest[i] < ceiling*9/10 {
			t.Errorf("2000 draws under %v stayed below %v", ceiling, highest[i])
		}
	}
	forever := Backoff{base: standard.retryBase, max: standard.retryMax, attempt: 1 << 40}
	if d := forever.Next(); d >= standard.retryMax {
		t.Fatal(d)
	}
}
