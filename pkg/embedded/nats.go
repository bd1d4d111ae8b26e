package embedded

import (
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

const natsReadyWithin = 10 * time.Second

// NATS is a NATS server in this process.
type NATS struct{ server *server.Server }

// StartNATS starts a NATS server on host:port, with NATS's own defaults, max_payload included; port 0 takes any. An address
// that cannot be had is ErrListen.
func StartNATS(addr string) (*NATS, error) {
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	port, err := strconv.Atoi(service)
	if err != nil {
		return nil, fmt.Errorf("nats: port of %q: %w", addr, err)
	}
	if port == 0 {
		port = server.RANDOM_PORT
	}
	s, err := server.NewServer(&server.Options{Host: host, Port: port, NoSigs: true, NoLog: true})
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	s.Start()
	n := &NATS{server: s}
	if s.Addr() == nil { // Start listens before it returns, and tells a failure to its log only
		n.Close()
		return nil, fmt.Errorf("nats: %w on %s", ErrListen, addr)
	}
	if !s.ReadyForConnections(natsReadyWithin) {
		n.Close()
		return nil, fmt.Errorf("nats: not ready after %v", natsReadyWithin)
	}
	return n, nil
}

// Addr is the host:port that clients connect to.
func (n *NATS) Addr() string { return n.server.Addr().String() }

// URL is Addr as a nats:// URL.
func (n *NATS) URL() string { return "nats://" + n.Addr() }

// Close ends the server and its connections.
func (n *NATS) Close() {
	n.server.Shutdown()
	n.server.WaitForShutdown()
}
