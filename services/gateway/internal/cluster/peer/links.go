package peer

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

const (
	// Large is the size from which an answer takes a link, in bytes. Below it the bus is as cheap.
	Large = 32 << 10
	// maxQueued bounds the answers that wait on one link, in bytes.
	maxQueued = 32 << 20
	// askTimeout bounds the question where a pod is.
	askTimeout = 2 * time.Second
	// retryAfter is how long no link is opened to a pod that could not be reached.
	retryAfter = 10 * time.Second
	// writeTimeout bounds one write; a peer that does not read for so long is not there.
	writeTimeout = 5 * time.Second
)

// LinksConfig is what Links are made of.
type LinksConfig struct {
	Bus *bus.Conn
	// TLS returns what a connection is made with now; nil for none.
	TLS    func() (*tls.Config, error)
	Logger *slog.Logger
}

// Links lead to other pods. They are opened when they are first wanted. Safe for concurrent use.
type Links struct {
	cfg    LinksConfig
	ctx    context.Context // ends the links
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	closed bool
	links  map[ids.GatewayID]*link
}

// NewLinks returns Links without any.
func NewLinks(cfg LinksConfig) *Links {
	l := &Links{cfg: cfg, links: make(map[ids.GatewayID]*link)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// Close ends all links; what still waits on them is handed back.
func (l *Links) Close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.cancel()
	l.work.Wait()
}

// Send hands an answer to the link of a pod and takes over its reference. It reports false, and takes nothing over, where
// there is no link to use now. back gets the answers that the link could not write; it may be called much later.
func (l *Links) Send(to ids.GatewayID, number uint64, answer *frame.Buffer, back func(*frame.Buffer)) bool {
	k := l.link(to)
	return k != nil && k.push(outgoing{number, answer, back})
}

// link returns the link to a pod if it is up. If it is down, it is opened for the next time.
func (l *Links) link(to ids.GatewayID) *link {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.links[to]
	switch {
	case l.closed:
		return nil
	case k == nil || k.over() && time.Now().After(k.retry):
		k = &link{wake: make(chan struct{}, 1), retry: time.Now().Add(retryAfter)}
		l.links[to] = k
		l.work.Go(func() { l.run(to, k) })
		return nil
	}
	return k
}

// run opens a link and writes to it until it fails.
func (l *Links) run(to ids.GatewayID, k *link) {
	defer k.end()
	nc, err := l.dial(to)
	if err != nil {
		l.cfg.Logger.Debug("no link to a peer; large answers go over the bus", "peer", string(to), "error", err)
		return
	}
	defer nc.Close()
	stop := context.AfterFunc(l.ctx, func() { _ = nc.Close() })
	defer stop()
	k.begin()
	if err := k.write(l.ctx, nc); err != nil && l.ctx.Err() == nil {
		l.cfg.Logger.Info("link to a peer lost; large answers go over the bus", "peer", string(to), "error", err)
	}
}

func (l *Links) dial(to ids.GatewayID) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(l.ctx, askTimeout)
	defer cancel()
	m, err := l.cfg.Bus.RequestWithContext(ctx, bus.PeerSubject(to), nil)
	if err != nil {
		return nil, err
	}
	at, err := parsePlace(m.Data)
	if err != nil {
		return nil, err
	}
	nc, err := l.open(ctx, at.addr)
	if err != nil {
		return nil, err
	}
	if err := greet(nc, to, at.key); err != nil {
		_ = nc.Close()
		return nil, err
	}
	return nc, nil
}

func (l *Links) open(ctx context.Context, addr string) (net.Conn, error) {
	plain := new(net.Dialer)
	if l.cfg.TLS == nil {
		return plain.DialContext(ctx, "tcp", addr)
	}
	config, err := l.cfg.TLS()
	if err != nil {
		return nil, err
	}
	return (&tls.Dialer{NetDialer: plain, Config: config}).DialContext(ctx, "tcp", addr)
}
