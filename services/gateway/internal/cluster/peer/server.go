package peer

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// ServerConfig is what a Server is made of.
type ServerConfig struct {
	Gateway ids.GatewayID
	// Addr is listened on. Advertise is where other pods find it; where empty, it is derived from Addr.
	Addr, Advertise string
	// TLS returns what a connection is made with now; nil for none.
	TLS    func() (*tls.Config, error)
	Bus    *bus.Conn
	Budget *frame.Budget
	// MaxReply bounds an answer, in bytes.
	MaxReply int
	// Deliver takes an answer and its reference.
	Deliver func(number uint64, answer *frame.Buffer)
	Logger  *slog.Logger
}

// Server takes answers from other pods.
type Server struct {
	cfg  ServerConfig
	key  string // who knows it may bring answers; only gateways get it, over the bus
	ln   net.Listener
	sub  *nats.Subscription
	work sync.WaitGroup

	unproven chan struct{} // has one for each connection that has not shown yet that it knows the key

	mu     sync.Mutex
	closed bool
	open   map[net.Conn]struct{}
}

// Listen opens a Server and tells other pods its address when they ask over the bus: once it has returned, each gets an
// answer.
func Listen(ctx context.Context, cfg ServerConfig) (*Server, error) {
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", cfg.Addr)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, key: rand.Text(), ln: ln, unproven: make(chan struct{}, maxUnproven), open: make(map[net.Conn]struct{})}
	addr, err := advertised(ln.Addr(), cfg.Advertise)
	if err == nil {
		s.sub, err = cfg.Bus.Subscribe(bus.PeerSubject(cfg.Gateway), func(m *nats.Msg) {
			if err := m.Respond(place{addr, s.key}.append(nil)); err != nil {
				cfg.Logger.Warn("a peer could not be told the address", "error", err)
			}
		})
	}
	if err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	_ = cfg.Bus.FlushWithContext(ctx) // where the bus is away, the subscription is made when it is back
	s.work.Go(s.accept)
	return s, nil
}

// advertised returns the address under which other pods find a listener. One that listens on every interface is found by
// its pod's IP, else by its host's name.
func advertised(addr net.Addr, configured string) (string, error) {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return "", err
	}
	if configured != "" {
		if _, _, err := net.SplitHostPort(configured); err == nil {
			return configured, nil
		}
		return net.JoinHostPort(configured, port), nil
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsUnspecified() {
		return net.JoinHostPort(host, port), nil
	}
	if host, err = os.Hostname(); err != nil {
		return "", fmt.Errorf("no address to advertise: %w", err)
	}
	return net.JoinHostPort(host, port), nil
}

// Close ends the listener and its links.
func (s *Server) Close() {
	_ = s.sub.Unsubscribe() // fails only once the bus is closed
	_ = s.ln.Close()
	s.mu.Lock()
	s.closed = true
	for nc := range s.open {
		_ = nc.Close()
	}
	s.mu.Unlock()
	s.work.Wait()
}

func (s *Server) accept() {
	for {
		nc, err := s.ln.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				s.cfg.Logger.Error("peer listener ended; large answers go over the bus", "error", err)
			}
			return
		}
		if s.cfg.TLS != nil {
			config, err := s.cfg.TLS()
			if err != nil {
				s.cfg.Logger.Error("peers cannot be let in; large answers go over the bus", "error", err)
				_ = nc.Close()
				continue
			}
			nc = tls.Server(nc, config)
		}
		select {
		case s.unproven <- struct{}{}:
			s.work.Go(func() { s.serve(nc) })
		default: // too many that have not shown the key
			_ = nc.Close()
		}
	}
}

func (s *Server) serve(nc net.Conn) {
	defer nc.Close()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		<-s.unproven
		return
	}
	s.open[nc] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.open, nc)
		s.mu.Unlock()
	}()
	r := bufio.NewReaderSize(nc, maxPreface)
	err := admit(nc, r, s.cfg.Gateway, s.key)
	<-s.unproven
	if err != nil {
		s.cfg.Logger.Warn("peer refused", "from", nc.RemoteAddr().String(), "error", err)
		return
	}
	for {
		if err := s.receive(r); err != nil {
			return // the peer is gone; its answers come over the bus
		}
	}
}

func (s *Server) receive(r *bufio.Reader) error {
	head, err := r.Peek(headerSize)
	if err != nil {
		return err
	}
	number, size := binary.BigEndian.Uint64(head), int(binary.BigEndian.Uint32(head[8:]))
	if size > s.cfg.MaxReply {
		return fmt.Errorf("an answer of %d bytes", size)
	}
	_, _ = r.Discard(headerSize) // it was peeked
	b, err := frame.ReadFull(r, size, s.cfg.Budget)
	if err != nil {
		return err
	}
	s.cfg.Deliver(number, b)
	return nil
}
