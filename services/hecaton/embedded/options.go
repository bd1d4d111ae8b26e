package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/auth"
	"github.com/hecaton-dev/hecaton/pkg/config"
	"github.com/hecaton-dev/hecaton/pkg/obs"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
)

// Options of a cluster. The zero value is one gateway on free ports of 127.0.0.1, in trusted mode, with NATS and Redis in
// this process.
type Options struct {
	// Gateways is how many there are; 0 means 1.
	Gateways int
	// Host is the address of the gateways' HTTP and gRPC ports; empty means 127.0.0.1. All other ports are on loopback,
	// whatever Host is: they are nobody's but this machine's.
	Host string
	// Ports are those of the first gateway; gateway i has each plus i. 0 takes free ones.
	Ports Ports
	// Registry and Orchestrator are the ports of these; HTTP is not used, 0 takes free ones.
	Registry, Orchestrator Ports

	// NATSURL and RedisURL are servers to use; empty ones run in this process, on free loopback ports.
	NATSURL, RedisURL config.Secret

	// Auth is how users are known; an empty mode means trusted.
	Auth auth.Config
	// Services is how services know each other.
	Services auth.ServiceAuth
	Trace    obs.TraceConfig
	// Gateway changes the configuration of gateway i before it starts; may be nil.
	Gateway func(i int, c *gateway.Config)

	// StartTimeout bounds the starting; 0 means 30 s.
	StartTimeout time.Duration
	// Version is what the pods say of their build.
	Version string
	Logger  *slog.Logger
}

// Ports are the ports of a pod.
type Ports struct{ HTTP, GRPC, Admin int }

// A Role is what a port is for.
type Role string

// The roles.
const (
	RoleHTTP  Role = "HTTP"
	RoleGRPC  Role = "gRPC"
	RoleAdmin Role = "admin"
)

// PortError says that a pod cannot have its port.
type PortError struct {
	Pod  string // "gateway 1"
	Role Role
	Port int
	Err  error
}

func (e *PortError) Error() string {
	return fmt.Sprintf("%s cannot listen on its %s port %d: %v", e.Pod, e.Role, e.Port, e.Err)
}

// Unwrap returns what the system said.
func (e *PortError) Unwrap() error { return e.Err }

func (o Options) withDefaults() (Options, error) {
	if o.Gateways == 0 {
		o.Gateways = 1
	}
	if o.Gateways < 0 {
		return o, errors.New("a cluster needs at least one gateway")
	}
	if o.Host == "" {
		o.Host = loopback
	}
	if o.Auth.Mode == "" {
		o.Auth.Mode = auth.Trusted
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = 30 * time.Second
	}
	o.Logger = obs.OrDiscard(o.Logger)
	for _, p := range []Ports{o.Ports, o.Registry, o.Orchestrator} {
		for _, port := range []int{p.HTTP, p.GRPC, p.Admin} {
			if port < 0 || port+o.Gateways-1 > 65535 {
				return o, fmt.Errorf("%d is no port for %d gateways, those of gateway i being i more", port, o.Gateways)
			}
		}
	}
	return o, nil
}

// plus returns the ports of gateway i.
func (p Ports) plus(i int) Ports {
	add := func(port int) int {
		if port == 0 {
			return 0
		}
		return port + i
	}
	return Ports{HTTP: add(p.HTTP), GRPC: add(p.GRPC), Admin: add(p.Admin)}
}

const loopback = "127.0.0.1"

func address(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }

// reachable returns the address by which this machine reaches a listener: one that listens on every address says so.
func reachable(listener string) string {
	host, port, err := net.SplitHostPort(listener)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return listener
	}
	return net.JoinHostPort(loopback, port)
}
