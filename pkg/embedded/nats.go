package embedded

import (
	"fmt"
	"net"
	"net/url"
	"slices"
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
	return startNATS(&server.Options{Host: host, Port: port}, addr)
}

// StartNATSCluster starts servers on ports of this machine that are free, and returns once each knows all others.
func StartNATSCluster(servers int) (cluster []*NATS, err error) {
	defer func() {
		if err != nil {
			for _, n := range cluster {
				n.Close()
			}
		}
	}()
	const host = "127.0.0.1"
	var routes []*url.URL
	for i := range servers {
		n, err := startNATS(&server.Options{
			ServerName: "nats-" + strconv.Itoa(i), Host: host, Port: server.RANDOM_PORT, Routes: routes,
			Cluster: server.ClusterOpts{Name: "hecaton", Host: host, Port: server.RANDOM_PORT},
		}, host)
		if err != nil {
			return cluster, err
		}
		cluster = append(cluster, n)
		routes = []*url.URL{{Scheme: "nats", Host: cluster[0].server.ClusterAddr().String()}}
	}
	for end := time.Now().Add(natsReadyWithin); ; <-time.After(10 * time.Millisecond) {
		if !slices.ContainsFunc(cluster, func(n *NATS) bool { return n.server.NumRemotes() != servers-1 }) {
			return cluster, nil
		}
		if time.Now().After(end) {
			return cluster, fmt.Errorf("nats: no cluster of %d after %v", servers, natsReadyWithin)
		}
	}
}

func startNATS(options *server.Options, addr string) (*NATS, error) {
	options.NoSigs, options.NoLog = true, true
	s, err := server.NewServer(options)
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
