package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/security/webguard"
	orchestrator "github.com/hecaton-dev/hecaton/services/agent-orchestrator/app"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	knowledge "github.com/hecaton-dev/hecaton/services/knowledge/app"
)

// Options of a cluster. The zero value is one gateway on free ports of 127.0.0.1, in trusted mode, with NATS and Redis in
// this process.
type Options struct {
	// Gateways is how many there are; 0 means 1.
	Gateways int
	// Host is the address of the gateways' HTTP and gRPC ports; empty means 127.0.0.1. All other ports listen on loopback,
	// whatever Host is.
	Host string
	// Ports are those of the first gateway; gateway i has each plus i. 0 takes free ones.
	Ports Ports
	// RegistryPorts and OrchestratorPorts are those of the registry and of the first orchestrator; orchestrator i has each
	// plus i. HTTP is not used. 0 takes free ports.
	RegistryPorts, OrchestratorPorts Ports
	// Orchestrators is how many there are; 0 means 1.
	Orchestrators int
	// Knowledge is how many knowledge services there are; 0 means 1.
	Knowledge int
	// KnowledgePorts are those of the first one; service i has each plus i. HTTP is not used. 0 takes free ports.
	KnowledgePorts Ports
	// Embeddings make the vectors of documents. Where it says no kind, the offline embedder does.
	Embeddings knowledge.Embeddings
	// TikaURL is an Apache Tika server's; "" for none.
	TikaURL string

	// NATSURL and RedisURL are servers to use; empty ones run in this process, on free loopback ports.
	NATSURL, RedisURL config.Secret
	// StorageURL is the PostgreSQL that keeps sessions; SQLite in the data directory where empty.
	StorageURL config.Secret
	// DataDir holds the sessions (hecaton.db), the documents (knowledge.db), the users' files (workspace) and the key that seals their secrets
	// (secret.key). It is created if it is missing; one cluster at a time may use it. Empty means a temporary directory,
	// which is removed at the end.
	DataDir string
	// Model answers runs whose requests name none.
	Model Model

	// MCPStdio lets users have MCP servers run as programs on this machine.
	MCPStdio bool

	// Auth is how users are known; an empty mode means trusted.
	Auth auth.Config
	// Pages are the web pages, extensions and names that the gateways serve beside their own.
	Pages webguard.Config
	// Services is how services authenticate to each other. By default, if users need tokens, the cluster makes a token for
	// them at each start ([ServiceTokenFile]).
	Services auth.ServiceAuth
	Trace    obs.TraceConfig
	// Gateway, Orchestrator and KnowledgeService change the configuration of one of these before it starts; may be nil.
	Gateway          func(i int, c *gateway.Config)
	Orchestrator     func(i int, c *orchestrator.Config)
	KnowledgeService func(i int, c *knowledge.Config)

	// StartTimeout bounds the starting; 0 means 30 s.
	StartTimeout time.Duration
	// Version is what the pods say of their build.
	Version string
	Logger  *slog.Logger
}

// Model is an OpenAI-compatible endpoint. If neither BaseURL nor Key is given, or Offline is set, the scripted model of
// this process is used (package offlinemodel).
type Model struct {
	Offline bool
	BaseURL string
	Key     config.Secret
	Name    string
	// Window is the model's context window in tokens; 0 asks the table of known models.
	Window int
}

// IsOffline reports whether m is the model of this process.
func (m Model) IsOffline() bool { return m.Offline || m.BaseURL == "" && m.Key == "" }

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
	if o.Orchestrators == 0 {
		o.Orchestrators = 1
	}
	if o.Orchestrators < 0 {
		return o, errors.New("a cluster needs at least one orchestrator")
	}
	if o.Knowledge == 0 {
		o.Knowledge = 1
	}
	if o.Knowledge < 0 {
		return o, errors.New("a cluster needs at least one knowledge service")
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
	return o, errors.Join(o.Ports.check(o.Gateways), o.RegistryPorts.check(1), o.OrchestratorPorts.check(o.Orchestrators),
		o.KnowledgePorts.check(o.Knowledge))
}

// check refuses ports that are none for each of n pods.
func (p Ports) check(n int) error {
	for _, port := range []int{p.HTTP, p.GRPC, p.Admin} {
		if port < 0 || port+n-1 > 65535 {
			return fmt.Errorf("%d is no port for %d pods, that of pod i being i more", port, n)
		}
	}
	return nil
}

// plus returns the ports of pod i.
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

// reachable returns the address at which this machine reaches a listener: 127.0.0.1 if it listens on all addresses.
func reachable(listener string) string {
	host, port, err := net.SplitHostPort(listener)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return listener
	}
	return net.JoinHostPort(loopback, port)
}
