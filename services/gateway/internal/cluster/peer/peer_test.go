package peer_test

import (
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/peer"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// pods are a pod that waits for answers and one that has them.
type pods struct {
	t       *testing.T
	gateway ids.GatewayID
	url     string
	budget  *frame.Budget
	links   *peer.Links

	mu   sync.Mutex
	got  map[uint64][]byte
	back int
}

func start(t *testing.T, change func(*peer.ServerConfig)) *pods {
	t.Helper()
	p := &pods{t: t, gateway: ids.NewGatewayID("pod"), url: testkit.NATS(t), budget: frame.NewBudget(32 << 20), got: map[uint64][]byte{}}
	cfg := peer.ServerConfig{
		Gateway: p.gateway, Addr: "127.0.0.1:0", Bus: p.bus(), Budget: p.budget, MaxReply: 12 << 20,
		Logger: obs.OrDiscard(nil),
		Deliver: func(n uint64, b *frame.Buffer) {
			p.mu.Lock()
			p.got[n] = bytes.Clone(b.Bytes())
			p.mu.Unlock()
			b.Release()
		},
	}
	if change != nil {
		change(&cfg)
	}
	s, err := peer.Listen(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	p.links = peer.NewLinks(peer.LinksConfig{Bus: p.bus(), Logger: obs.OrDiscard(nil)})
	t.Cleanup(func() { p.links.Close(); s.Close() })
	return p
}

func (p *pods) bus() *bus.Conn {
	p.t.Helper()
	c, err := bus.Connect(p.t.Context(), bus.Options{URL: p.url})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(c.Close)
	return c
}

// send reports whether the link took the answer.
func (p *pods) send(n uint64, data []byte) bool {
	b := frame.Wrap(data)
	taken := p.links.Send(p.gateway, n, b, func(b *frame.Buffer) {
		p.mu.Lock()
		p.back++
		p.mu.Unlock()
		b.Release()
	})
	if !taken {
		b.Release()
	}
	return taken
}

// linked waits for the link. One missed attempt, as on a machine with too much to do, costs 10 s.
func (p *pods) linked() {
	p.t.Helper()
	testkit.Eventually(p.t, 40*time.Second, func() bool { return p.send(1, []byte("x")) }, "the link comes up")
}

// untaken fails the test where a link comes up.
func (p *pods) untaken() {
	p.t.Helper()
	for until := time.Now().Add(500 * time.Millisecond); time.Now().Before(until); {
		if p.send(1, []byte("x")) {
			p.t.Fatal("taken")
		}
	}
}

func (p *pods) count() (got, back int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.got), p.back
}

func TestAnswersArriveWholeOnceTheLinkIsUp(t *testing.T) {
	t.Parallel()
	p := start(t, nil)
	if p.send(1, []byte("x")) {
		t.Error("a link was up before anybody wanted it")
	}
	p.linked()
	want := map[uint64][]byte{1: []byte("x")}
	for i, size := range []int{0, 1, 100, 200 << 10, 10 << 20} {
		n := uint64(i + 2)
		want[n] = bytes.Repeat([]byte{byte(i)}, size)
		if !p.send(n, want[n]) {
			t.Fatalf("%d bytes were not taken", size)
		}
	}
	testkit.Eventually(t, 10*time.Second, func() bool { got, _ := p.count(); return got == len(want) }, "all answers arrive")
	for n, data := range want {
		if !bytes.Equal(p.got[n], data) {
			t.Errorf("answer %d of %d bytes arrived as %d", n, len(data), len(p.got[n]))
		}
	}
	testkit.Eventually(t, 5*time.Second, func() bool { return p.budget.Used() == 0 }, "nothing stays counted")
}

func TestUnknownPeersAndOldAddressesAreRefused(t *testing.T) {
	t.Parallel()
	t.Run("no address", func(t *testing.T) {
		t.Parallel()
		start(t, func(c *peer.ServerConfig) { c.Advertise = "127.0.0.1:1" }).untaken()
	})
	t.Run("another pod at the address", func(t *testing.T) {
		t.Parallel()
		p := start(t, nil)
		other := start(t, nil)
		// The pod that is looked for says that it is where the other one is.
		addr, err := other.bus().RequestWithContext(t.Context(), bus.PeerSubject(other.gateway), nil)
		if err != nil {
			t.Fatal(err)
		}
		p.gateway = ids.NewGatewayID("gone")
		liar := p.bus()
		sub, err := liar.SubscribeSync(bus.PeerSubject(p.gateway))
		if err != nil {
			t.Fatal(err)
		}
		_ = liar.Flush()
		p.send(1, []byte("x"))
		m, err := sub.NextMsgWithContext(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_ = m.Respond(addr.Data)
		p.untaken()
		if got, _ := other.count(); got != 0 {
			t.Error("the other pod got an answer that was not its own")
		}
	})
}

func TestWhatALinkCannotWriteComesBack(t *testing.T) {
	t.Parallel()
	p := start(t, func(c *peer.ServerConfig) { c.MaxReply = 1 << 20 })
	p.linked()
	// The server cuts a link that announces too much; what is queued behind is not lost.
	taken := 0
	for n := range uint64(200) {
		if p.send(n+2, make([]byte, 2<<20)) {
			taken++
		}
	}
	if taken == 0 {
		t.Fatal("nothing was taken")
	}
	testkit.Eventually(t, 10*time.Second, func() bool { _, back := p.count(); return back > 0 }, "answers come back")
	if p.send(999, []byte("x")) {
		t.Error("a link that is down took an answer")
	}
}

// Whoever reaches the port without having heard the key over the bus brings no answer, whatever was overheard before.
func TestWithoutTheKeyNothingIsBrought(t *testing.T) {
	t.Parallel()
	p := start(t, nil)
	asker := p.bus()
	m, err := asker.RequestWithContext(t.Context(), bus.PeerSubject(p.gateway), nil)
	if err != nil {
		t.Fatal(err)
	}
	addr, _, _ := strings.Cut(string(m.Data), " ")
	forged := string(peer.Header(1, 6)) + "forged"
	overheard := overhear(t, addr, func(through string) {
		nc, err := peer.Greet(through, p.gateway, string(m.Data))
		if err != nil {
			t.Fatal(err)
		}
		_ = nc.Close()
	})
	id := bus.Token(string(p.gateway))
	for name, said := range map[string]string{
		"nothing but an answer":      forged,
		"the protocol before":        "hecaton-peer/1 " + id + " \nwelcome\n" + forged,
		"no proof":                   "hecaton-peer/2 " + id + " nonce\n\n" + forged,
		"a proof of the empty key":   "hecaton-peer/2 " + id + " nonce\n" + strings.Repeat("0", 64) + "\n" + forged,
		"what was overheard":         overheard + forged,
		"a line longer than allowed": strings.Repeat("x", 1<<20),
	} {
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = nc.SetDeadline(time.Now().Add(10 * time.Second))
		_, _ = nc.Write([]byte(said)) // it may be cut off before the end
		answer, _ := io.ReadAll(nc)
		_ = nc.Close()
		if strings.Contains(string(answer), "welcome") {
			t.Errorf("%s: welcome", name)
		}
	}
	if got, _ := p.count(); got != 0 {
		t.Error("an answer was brought")
	}
}

// Whoever has the address of a pod that is gone says that it is welcome, and gets no answer.
func TestAnImpostorGetsNothing(t *testing.T) {
	t.Parallel()
	p := start(t, nil)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 1)
	go func() {
		nc, err := ln.Accept()
		if err != nil {
			return
		}
		_, _ = nc.Write([]byte("welcome\nnonce " + strings.Repeat("0", 64) + "\nwelcome\n"))
		raw, _ := io.ReadAll(nc)
		heard <- string(raw)
	}()
	if nc, err := peer.Greet(ln.Addr().String(), p.gateway, "127.0.0.1:1 the-key-of-the-pod"); err == nil {
		_ = nc.Close()
		t.Error("it was taken for the pod")
	}
	_ = ln.Close()
	if said := <-heard; strings.Contains(said, "the-key") || strings.Count(said, "\n") != 1 {
		t.Errorf("the impostor heard %q", said)
	}
}

// overhear returns what the side that dials says through a proxy.
func overhear(t *testing.T, addr string, use func(through string)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	said := make(chan string, 1)
	go func() {
		client, err := ln.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", addr)
		if err != nil {
			return
		}
		var b bytes.Buffer
		go func() { _, _ = io.Copy(client, server) }()
		_, _ = io.Copy(io.MultiWriter(server, &b), client)
		_ = server.Close()
		_ = client.Close()
		said <- b.String()
	}()
	use(ln.Addr().String())
	return <-said
}

func FuzzPreface(f *testing.F) {
	f.Add([]byte("hecaton-peer/2 pod b\nc\n"))
	f.Add([]byte("hecaton-peer/1 pod token\n"))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, preface []byte) {
		client, server := net.Pipe()
		defer client.Close()
		done := make(chan error, 1)
		go func() { done <- peer.Admit(server, "pod", "key"); server.Close() }()
		_ = client.SetDeadline(time.Now().Add(5 * time.Second))
		go func() { _, _ = io.Copy(io.Discard, client) }()
		go func() { _, _ = client.Write(preface); _, _ = client.Write([]byte("\n\n")); client.Close() }()
		if err := <-done; err == nil {
			t.Fatalf("%q was admitted", preface)
		}
	})
}
