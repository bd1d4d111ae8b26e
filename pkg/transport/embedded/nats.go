package embedded

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/hecaton-dev/hecaton/pkg/security/access"
)

const natsReadyWithin = 10 * time.Second

// NATS is a NATS server in this process.
type NATS struct {
	server    *server.Server
	passwords access.Passwords
	denied    *denials
}

// Admission says who may use a server.
type Admission struct {
	// Passwords are those of the services, each of which may do what package access says. There are no other users.
	Passwords access.Passwords
	// Open has clients that show no credentials do what they like: for tests.
	Open bool
}

// StartNATS starts a NATS server on host:port, with NATS's own defaults, max_payload included; port 0 takes any. An address
// that cannot be had is ErrListen.
func StartNATS(addr string, a Admission) (*NATS, error) {
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
	return startNATS(&server.Options{Host: host, Port: port}, a, addr)
}

// StartNATSCluster starts servers on ports of this machine that are free, and returns once each knows all others. They know
// each other by a password of their own.
func StartNATSCluster(servers int, a Admission) (cluster []*NATS, err error) {
	defer func() {
		if err != nil {
			for _, n := range cluster {
				n.Close()
			}
		}
	}()
	const host = "127.0.0.1"
	var routes []*url.URL
	const router = "route"
	secret := rand.Text()
	for i := range servers {
		n, err := startNATS(&server.Options{
			ServerName: "nats-" + strconv.Itoa(i), Host: host, Port: server.RANDOM_PORT, Routes: routes,
			Cluster: server.ClusterOpts{Name: "hecaton", Host: host, Port: server.RANDOM_PORT, Username: router, Password: secret},
		}, a, host)
		if err != nil {
			return cluster, err
		}
		cluster = append(cluster, n)
		routes = []*url.URL{{Scheme: "nats", User: url.UserPassword(router, secret), Host: cluster[0].server.ClusterAddr().String()}}
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

func startNATS(options *server.Options, a Admission, addr string) (*NATS, error) {
	options.NoSigs, options.NoLog = true, true
	if a.Apply(options); len(options.Users) == 0 {
		return nil, errors.New("nats: a server without users would let everybody do everything")
	}
	s, err := server.NewServer(options)
	if err != nil {
		return nil, fmt.Errorf("nats: %w", err)
	}
	n := &NATS{server: s, passwords: a.Passwords, denied: &denials{}}
	s.SetLoggerV2(n.denied, false, false, false)
	s.Start()
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

// URL is Addr as a nats:// URL, without credentials.
func (n *NATS) URL() string { return "nats://" + n.Addr() }

// URLFor is URL with a service's credentials.
func (n *NATS) URLFor(s access.Service) string {
	return withCredentials("nats", s, n.passwords, n.Addr())
}

// Denied returns what services tried and were not allowed, in the server's words.
func (n *NATS) Denied() []string { return n.denied.list() }

// Close ends the server and its connections.
func (n *NATS) Close() {
	n.server.Shutdown()
	n.server.WaitForShutdown()
}
