package app

import (
	"errors"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/security/webguard"
	"github.com/hecaton-dev/hecaton/pkg/transport/tlsfiles"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/drain"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/limits"
)

// Limits are how much one user may have.
type Limits = limits.Settings

// Config is a gateway's configuration.
type Config struct {
	PodName   string `conf:"pod-name" env:"POD_NAME" help:"name of this pod in logs and the registry; the host's name where empty"`
	HTTPAddr  string `conf:"http-addr" env:"HTTP_ADDR" default:":8080" help:"public address: sockets and REST"`
	GRPCAddr  string `conf:"grpc-addr" env:"GRPC_ADDR" default:":9080" help:"address of ToolService"`
	PeerAddr  string `conf:"peer-addr" env:"PEER_ADDR" default:":9280" help:"address on which large answers come straight from other gateways; empty for none: they go over the bus"`
	PeerName  string `conf:"peer-name" env:"PEER_NAME" help:"host, or host:port, under which other gateways reach peer-addr; the pod's IP (POD_IP) or host name where empty"`
	PodIP     string `conf:"pod-ip" env:"POD_IP" help:"IP of this pod"`
	AdminAddr string `conf:"admin-addr" env:"ADMIN_ADDR" default:":9180" help:"address of health, metrics and profiles"`

	NATSURL          config.Secret   `conf:"nats-url" env:"NATS_URL" default:"nats://127.0.0.1:4222" help:"bus, one or more addresses separated by commas, as nats://user:password@host:port where the bus has users"`
	NATSCreds        string          `conf:"nats-creds" env:"NATS_CREDS" help:"NATS credentials file"`
	NATSTLS          tlsfiles.Config `conf:"nats-tls" env:"NATS_TLS_"`
	RegistryAddr     string          `conf:"registry-addr" env:"REGISTRY_ADDR" default:"127.0.0.1:9090" help:"node-registry: a gRPC target such as dns:///node-registry:9090, or addresses separated by commas"`
	OrchestratorAddr string          `conf:"orchestrator-addr" env:"ORCHESTRATOR_ADDR" default:"127.0.0.1:9091" help:"agent-orchestrators: a gRPC target or addresses separated by commas; empty for none: no agent, tools or workspace are served"`
	KnowledgeAddr    string          `conf:"knowledge-addr" env:"KNOWLEDGE_ADDR" default:"127.0.0.1:9092" help:"knowledge services: a gRPC target or addresses separated by commas; empty for none: no knowledge bases are served"`

	Auth      auth.Config
	Pages     webguard.Config
	AdminDoor obs.AdminDoor
	Services  auth.ServiceAuth
	Log       obs.LogConfig
	Trace     obs.TraceConfig

	InternalSecret config.Secret `conf:"internal-api-secret" env:"INTERNAL_API_SECRET" help:"secret of programs that keep their users' scheduled tasks themselves, and mirror them at /scheduled-task/sync; none may where it is empty"`

	MCPKeys      config.Secret `conf:"mcp-keys" env:"MCP_KEYS" help:"keys that seal the sessions of MCP clients, the same at all gateways: each 32 bytes in base64, separated by commas; the first seals, all open. Where empty, each pod makes its own, and its sessions are known to it alone"`
	MCPHeartbeat time.Duration `conf:"mcp-heartbeat" env:"MCP_HEARTBEAT" default:"15s" help:"how often a long call of an MCP client, and a stream that is silent, say that they live"`

	MCPTaskAfter time.Duration `conf:"mcp-task-after" env:"MCP_TASK_AFTER" default:"5s" help:"how long a call takes before an MCP client that takes tasks is given one"`
	MCPApprovals string        `conf:"mcp-approvals" env:"MCP_APPROVALS" default:"chosen" help:"whose calls by MCP clients ask for approval: chosen for users who have saved approval settings, by these; always for all users, where new ones have those of a new user"`

	MaxFrame       config.Size   `conf:"max-frame" env:"MAX_FRAME" default:"10MiB" help:"largest frame in either direction"`
	MaxReply       config.Size   `conf:"max-reply" env:"MAX_REPLY" default:"32MiB" help:"largest answer that crosses pods in parts"`
	WriteQueue     config.Size   `conf:"write-queue" env:"WRITE_QUEUE" default:"16MiB" help:"bytes that may wait for one client that reads slowly"`
	WriteTimeout   time.Duration `conf:"write-timeout" env:"WRITE_TIMEOUT" default:"10s" help:"longest write to a client"`
	InFlight       config.Size   `conf:"in-flight" env:"IN_FLIGHT" default:"32MiB" help:"bytes of large frames in flight in this pod"`
	FrameRate      int           `conf:"frame-rate" env:"FRAME_RATE" default:"1000" help:"frames a second that one client may send unasked; 0 for no limit"`
	PingInterval   time.Duration `conf:"ping-interval" env:"PING_INTERVAL" default:"20s" help:"after how long a client is pinged that sends nothing"`
	HeartbeatLimit time.Duration `conf:"heartbeat-limit" env:"HEARTBEAT_LIMIT" default:"60s" help:"how long a node may be silent"`

	Limits         Limits        `conf:"limit" env:"LIMIT_"`
	BodyGrace      time.Duration `conf:"body-grace" env:"BODY_GRACE" default:"10s" help:"how long the body of a request may take whatever its length"`
	BodyRate       config.Size   `conf:"body-rate" env:"BODY_RATE" default:"32KiB" help:"bytes a second that a body must have on average beyond that"`
	MaxUnknown     int           `conf:"max-unknown" env:"MAX_UNKNOWN" default:"4096" help:"connections of a public port whose client has not yet shown who it is; 0 for no limit"`
	MaxUnknownIP   int           `conf:"max-unknown-per-address" env:"MAX_UNKNOWN_PER_ADDRESS" default:"512" help:"the same for one client address; 0 for no limit"`
	TrustedProxies []string      `conf:"trusted-proxies" env:"TRUSTED_PROXIES" help:"addresses or networks (10.0.0.0/8) of proxies in front, which stand before many clients: max-unknown-per-address is not for them"`

	DrainDelay  time.Duration `conf:"drain-delay" env:"DRAIN_DELAY" default:"3s" help:"how long load balancers have to notice that the pod is not ready, before a drain closes the first connection"`
	DrainSpread time.Duration `conf:"drain-spread" env:"DRAIN_SPREAD" default:"5s" help:"time over which a drain closes connections"`
	DrainRate   int           `conf:"drain-rate" env:"DRAIN_RATE" default:"1000" help:"connections a second that a drain closes at most; 0 for no limit. The grace period wins"`
	DrainGrace  time.Duration `conf:"drain-grace" env:"DRAIN_GRACE" default:"20s" help:"how long calls in flight may take at shutdown, after drain-delay"`
}

// The values of MCPApprovals.
const approvalsChosen, approvalsAlways = "chosen", "always"

// Validate reports what cannot work.
func (c Config) Validate() error {
	var errs []error
	if c.MaxFrame < 64*config.KiB {
		errs = append(errs, errors.New("max-frame must be at least 64KiB"))
	}
	if c.MaxReply < c.MaxFrame {
		errs = append(errs, errors.New("max-reply must be at least max-frame"))
	}
	if c.PingInterval <= 0 || c.HeartbeatLimit <= 0 || c.WriteTimeout <= 0 || c.MCPHeartbeat <= 0 || c.MCPTaskAfter <= 0 {
		errs = append(errs, errors.New("ping-interval, heartbeat-limit, write-timeout, mcp-heartbeat and mcp-task-after must be positive"))
	}
	if c.MCPApprovals != approvalsChosen && c.MCPApprovals != approvalsAlways {
		errs = append(errs, errors.New("mcp-approvals must be "+approvalsChosen+" or "+approvalsAlways))
	}
	if c.DrainDelay < 0 || c.DrainGrace < 0 {
		errs = append(errs, errors.New("drain-delay and drain-grace must not be negative"))
	}
	if c.BodyGrace <= 0 || c.BodyRate <= 0 || c.MaxUnknown < 0 || c.MaxUnknownIP < 0 {
		errs = append(errs, errors.New("body-grace and body-rate must be positive, max-unknown and max-unknown-per-address not negative"))
	}
	_, err := c.proxies()
	return errors.Join(append(errs, err, c.pace().Validate())...)
}

func (c Config) pace() drain.Pace { return drain.Pace{Spread: c.DrainSpread, Rate: c.DrainRate} }
