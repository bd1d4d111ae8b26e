package app

import (
	"errors"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/transport/tlsfiles"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

// Config is a node-registry's configuration. A program that builds one in code fills the rest with [config.Defaults].
type Config struct {
	PodName   string `conf:"pod-name" env:"POD_NAME" help:"name of this pod in logs; if empty, the host's name"`
	GRPCAddr  string `conf:"grpc-addr" env:"GRPC_ADDR" default:":9090" help:"address of NodeRegistryService"`
	AdminAddr string `conf:"admin-addr" env:"ADMIN_ADDR" default:":9190" help:"address of health, metrics and profiles"`

	RedisURL  config.Secret   `conf:"redis-url" env:"REDIS_URL" default:"redis://127.0.0.1:6379" help:"URL of the Redis that keeps presence; for a Redis Cluster redis+cluster://user:password@host:port,host:port,…"`
	RedisTLS  tlsfiles.Config `conf:"redis-tls" env:"REDIS_TLS_"`
	NATSURL   config.Secret   `conf:"nats-url" env:"NATS_URL" default:"nats://127.0.0.1:4222" help:"bus, one or more addresses separated by commas, as nats://user:password@host:port where the bus has users"`
	NATSCreds string          `conf:"nats-creds" env:"NATS_CREDS" help:"NATS credentials file"`
	NATSTLS   tlsfiles.Config `conf:"nats-tls" env:"NATS_TLS_"`

	NodesPerUser int           `conf:"nodes-per-user" env:"NODES_PER_USER" default:"10" help:"how many nodes of one user may be connected"`
	Lease        time.Duration `conf:"lease" env:"LEASE" default:"60s" help:"how long a node counts as online after its last sign of life"`
	SweepEvery   time.Duration `conf:"sweep-every" env:"SWEEP_EVERY" default:"30s" help:"how often expired nodes are removed and announced"`
	SessionTTL   time.Duration `conf:"session-ttl" env:"SESSION_TTL" default:"24h" help:"how long a session stays bound to its node after its last use"`
	DrainDelay   time.Duration `conf:"drain-delay" env:"DRAIN_DELAY" default:"3s" help:"how long the pod keeps serving at shutdown after it reports not ready, so that clients notice"`
	StopTimeout  time.Duration `conf:"stop-timeout" env:"STOP_TIMEOUT" default:"10s" help:"how long requests may take at shutdown, after drain-delay"`

	AdminDoor obs.AdminDoor
	Services  auth.ServiceAuth
	Log       obs.LogConfig
	Trace     obs.TraceConfig
}

// Validate reports what cannot work.
func (c Config) Validate() error {
	problems := []error{c.rules().Validate()}
	if c.SweepEvery < time.Millisecond {
		problems = append(problems, errors.New("sweep-every must be at least 1ms"))
	}
	if c.DrainDelay < 0 {
		problems = append(problems, errors.New("drain-delay must not be negative"))
	}
	return errors.Join(problems...)
}

// rules are those of the store.
func (c Config) rules() store.Rules {
	return store.Rules{Lease: c.Lease, NodesPerUser: c.NodesPerUser, SessionTTL: c.SessionTTL, Unseen: store.DefaultRules.Unseen}
}
