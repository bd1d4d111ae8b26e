package connlimit_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/security/connlimit"
	"github.com/hecaton-dev/hecaton/pkg/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// port accepts connections under a limit.
type port struct {
	t        *testing.T
	limit    *connlimit.Limit
	addr     string
	accepted chan *connlimit.Conn
}

func open(t *testing.T, cfg connlimit.Config) *port {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limit, err := connlimit.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := &port{t: t, limit: limit, addr: ln.Addr().String(), accepted: make(chan *connlimit.Conn, 100)}
	limited := p.limit.Listen(ln)
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			c, err := limited.Accept()
			if err != nil {
				return
			}
			p.accepted <- c.(*connlimit.Conn)
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		accepting.Wait()
		close(p.accepted)
		for c := range p.accepted {
			_ = c.Close()
		}
	})
	return p
}

// dial connects from an address of this machine.
func (p *port) dial(from string) net.Conn {
	p.t.Helper()
	c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext(p.t.Context(), "tcp", p.addr)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = c.Close() })
	return c
}

// closed reports whether the other side closes a connection soon.
func closed(c net.Conn) bool {
	_ = c.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
	_, err := c.Read(make([]byte, 1))
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

func TestOneAddressHasItsOwnLimit(t *testing.T) {
	t.Parallel()
	p := open(t, connlimit.Config{PerAddress: 2})
	first, second := p.dial("127.0.0.2"), p.dial("127.0.0.2")
	<-p.accepted
	served := <-p.accepted
	if third := p.dial("127.0.0.2"); !closed(third) {
		t.Error("a third one of one address stays")
	}
	if other := p.dial("127.0.0.3"); closed(other) {
		t.Error("another address is refused")
	}
	served.Known()
	served.Known()
	if again := p.dial("127.0.0.2"); closed(again) {
		t.Error("the place of one that is known is not free")
	}
	if closed(first) || closed(second) || p.limit.Refused() != 1 || p.limit.Open() != 3 {
		t.Errorf("%d refused, %d open", p.limit.Refused(), p.limit.Open())
	}
}

func TestProxiesHaveNoLimitOfTheirOwn(t *testing.T) {
	t.Parallel()
	p := open(t, connlimit.Config{PerAddress: 1, InAll: 3, Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.4/31")}})
	for _, from := range []string{"127.0.0.4", "127.0.0.4", "127.0.0.5"} {
		if closed(p.dial(from)) {
			t.Errorf("a proxy at %s is refused", from)
		}
	}
	if !closed(p.dial("127.0.0.4")) {
		t.Error("four in all")
	}
}

func TestTheOldestGoesOnceItIsNotYoung(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer // read once nobody is accepted any more
	p := open(t, connlimit.Config{InAll: 2, Name: "test", Logger: slog.New(slog.NewTextHandler(&log, nil))})
	first, second := p.dial("127.0.0.2"), p.dial("127.0.0.3")
	one, two := <-p.accepted, <-p.accepted
	testkit.Eventually(t, 20*time.Second, func() bool { return !closed(p.dial("127.0.0.4")) }, "a new one is let in")
	if _, err := first.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && err == nil {
		t.Errorf("the oldest is still there: %v", err)
	}
	if closed(second) || p.limit.Open() != 2 || p.limit.Refused() == 0 {
		t.Errorf("%d open, %d refused", p.limit.Open(), p.limit.Refused())
	}
	_, _ = one.Close(), two.Close()
	testkit.Eventually(t, 10*time.Second, func() bool { return p.limit.Open() == 1 }, "what is closed does not count")
	if lines := strings.Count(log.String(), "\n"); lines != 1 || !strings.Contains(log.String(), "port=test") {
		t.Errorf("it logs %s", log.String())
	}
}
