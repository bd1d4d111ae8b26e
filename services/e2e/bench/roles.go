package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/process/config"
	"github.com/hecaton-dev/hecaton/pkg/process/heap"
	"github.com/hecaton-dev/hecaton/pkg/security/access"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/transport/embedded"
	gateway "github.com/hecaton-dev/hecaton/services/gateway/app"
	registry "github.com/hecaton-dev/hecaton/services/node-registry/app"

	"github.com/hecaton-dev/hecaton/services/e2e/bench/nodes"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/proc"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/relay"
)

// Roles of the child processes.
const (
	roleNATS        = "nats"
	roleRedis       = "redis"
	roleRegistry    = "registry"
	roleGateway     = "gateway"
	roleRelayEntry  = "relay-entry"
	roleRelayHolder = "relay-holder"
	roleNodes       = "nodes"

	roleModel        = "model"
	rolePostgres     = "postgres"
	roleOrchestrator = "orchestrator"
	roleBareAgent    = "bare-agent"

	roleSDK = "sdk"
)

// wiring tells a child where the others are; each role takes what it needs.
type wiring struct {
	Name                  string
	NATS, Redis, Registry string
	// Orchestrator is AgentService for a gateway, Gateway ToolService for an agent, Model where both agents ask.
	Orchestrator, Gateway, Model string
	// Database and Directory are where an orchestrator keeps what it keeps.
	Database, Directory string
	// Ask is what a bare agent says before the user does: the same prompt and tools.
	Ask json.RawMessage
	// Shards are the masters of a Redis Cluster, where there is more than one.
	Shards int
	// Cluster has a NATS server take routes, or, where it is an address, make them to the one there.
	Cluster string
	// Limits has a gateway hold users to the limits that are the default.
	Limits bool
	// Procs is how many processors the process uses at once; 0 is all.
	Procs int
	// Log is the least level that is logged.
	Log slog.Level
}

// Addresses of a child's listeners; each role has its own.
type Addresses struct {
	URL, HTTP, GRPC string
	// Admin is for metrics, or NATS's monitoring; Routes is where a NATS server takes those of others.
	Admin, Routes string
}

// Pod is the service of every role that listens.
type Pod struct{ addresses Addresses }

// Addresses tells where the pod listens.
func (p *Pod) Addresses(_ proc.Nothing, a *Addresses) error {
	*a = p.addresses
	return nil
}

const loopback = "127.0.0.1:0"

// play runs a role until the parent closes its standard input. Then the process ends, and with it everything that the role
// started and that is not stopped here.
func play(role string, raw []byte) error {
	var w wiring
	if err := json.Unmarshal(raw, &w); err != nil {
		return err
	}
	if w.Procs > 0 {
		runtime.GOMAXPROCS(w.Procs)
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: w.Log})))
	switch role {
	case roleNodes:
		return proc.Serve(map[string]any{"Nodes": nodes.NewFleet()})
	case roleModel:
		return playModel()
	}
	a, stop, err := listen(role, w)
	if err != nil {
		return err
	}
	return errors.Join(proc.Serve(map[string]any{"Pod": &Pod{a}}), stop())
}

func listen(role string, w wiring) (a Addresses, stop func() error, err error) {
	stop = func() error { return nil }
	switch role {
	case roleNATS:
		a, err = playNATS(w)
	case roleRedis:
		return playRedis(w)
	case roleRegistry:
		a, err = playRegistry(w)
	case roleGateway:
		a, err = playGateway(w)
	case roleRelayEntry:
		a, err = playRelayEntry(w)
	case roleRelayHolder:
		a, err = playRelayHolder(w)
	case rolePostgres:
		return playPostgres()
	case roleOrchestrator:
		a, err = playOrchestrator(w)
	case roleBareAgent:
		a, err = playBareAgent(w)
	case roleSDK:
		a, err = playSDK(w)
	default:
		err = fmt.Errorf("unknown role %q", role)
	}
	return a, stop, err
}

const (
	// routesTaken is the Cluster of a NATS server that makes no routes itself.
	routesTaken = "taken"
	// natsStarts bounds the wait for a NATS server's listeners.
	natsStarts = 10 * time.Second
)

// passwords are those of the services on the NATS server: what its checks cost is part of a call.
var passwords = access.Passwords{access.Gateway: "bench", access.NodeRegistry: "bench", access.AgentOrchestrator: "bench"}

// as returns a NATS server's URL with a service's credentials.
func as(s access.Service, natsURL string) config.Secret {
	return config.Secret(strings.Replace(natsURL, "://", "://"+url.UserPassword(string(s), passwords[s]).String()+"@", 1))
}

// playNATS runs a server with NATS's own defaults, and its monitoring.
func playNATS(w wiring) (Addresses, error) {
	const host = "127.0.0.1"
	opts := &server.Options{Host: host, Port: server.RANDOM_PORT, HTTPHost: host, HTTPPort: server.RANDOM_PORT, NoSigs: true, NoLog: true}
	if w.Cluster != "" {
		opts.Cluster = server.ClusterOpts{Name: "bench", Host: host, Port: server.RANDOM_PORT}
		if w.Cluster != routesTaken {
			opts.Routes = []*url.URL{{Scheme: "nats", Host: w.Cluster}}
		}
	}
	embedded.Admission{Passwords: passwords, Open: true}.Apply(opts) // the relay is as it was: it shows nothing
	s, err := server.NewServer(opts)
	if err != nil {
		return Addresses{}, err
	}
	s.Start()
	if !s.ReadyForConnections(natsStarts) {
		return Addresses{}, errors.New("nats-server does not listen")
	}
	a := Addresses{URL: s.ClientURL(), Admin: s.MonitorAddr().String()}
	if w.Cluster != "" {
		a.Routes = s.ClusterAddr().String()
	}
	return a, nil
}

func playRegistry(w wiring) (Addresses, error) {
	cfg := registry.Config{
		PodName: w.Name, GRPCAddr: loopback, AdminAddr: loopback,
		RedisURL: config.Secret(w.Redis), NATSURL: as(access.NodeRegistry, w.NATS),
	}
	if err := config.Defaults(&cfg); err != nil {
		return Addresses{}, err
	}
	app, err := registry.New(cfg, registry.Options{Logger: slog.Default()})
	if err != nil {
		return Addresses{}, err
	}
	if err := begin(app.Run, app.Started()); err != nil {
		return Addresses{}, err
	}
	return Addresses{GRPC: app.GRPCAddr(), Admin: app.AdminAddr()}, nil
}

// playGateway runs a gateway as its own main does, the pace of its garbage collection included.
func playGateway(w wiring) (Addresses, error) {
	heap.KeepHeadroom(heap.Headroom)
	cfg := gateway.Config{
		PodName: w.Name, HTTPAddr: loopback, GRPCAddr: loopback, AdminAddr: loopback, PeerAddr: loopback,
		NATSURL: as(access.Gateway, w.NATS), RegistryAddr: w.Registry, Auth: auth.Config{Mode: auth.Trusted},
	}
	if err := config.Defaults(&cfg); err != nil {
		return Addresses{}, err
	}
	cfg.OrchestratorAddr = w.Orchestrator
	if !w.Limits {
		// There are few users, who make many calls each: their limits are checked as in production, and are high enough
		// never to be met.
		const never = 1 << 40
		l := &cfg.Limits
		l.CallsPerSecond, l.CallsBurst, l.OpenCalls, l.BytesPerSecond, l.BytesBurst = never, never, never, never, never
		l.ConnectsPerSecond, l.ConnectsBurst, l.Streams, l.WebSockets = never, never, never, never
	}
	app, err := gateway.New(cfg, gateway.Options{Logger: slog.Default()})
	if err != nil {
		return Addresses{}, err
	}
	if err := begin(app.Run, app.Started()); err != nil {
		return Addresses{}, err
	}
	return Addresses{HTTP: app.HTTPAddr(), GRPC: app.GRPCAddr(), Admin: app.AdminAddr()}, nil
}

// begin runs a service for as long as the process lives, and returns once it serves.
func begin(run func(context.Context) error, started <-chan struct{}) error {
	failed := make(chan error, 1)
	go func() { failed <- run(context.Background()) }()
	select {
	case <-started:
		return nil
	case err := <-failed:
		return err
	}
}

func playRelayEntry(w wiring) (Addresses, error) {
	bus, err := nats.Connect(w.NATS)
	if err != nil {
		return Addresses{}, err
	}
	ln, err := net.Listen("tcp", loopback)
	if err != nil {
		return Addresses{}, err
	}
	s := grpc.NewServer(grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(window), grpc.MaxSendMsgSize(maxMessage))
	relay.NewEntry(bus).Register(s)
	go func() { slog.Error("relay", "error", s.Serve(ln)) }()
	return Addresses{GRPC: ln.Addr().String()}, nil
}

func playRelayHolder(w wiring) (Addresses, error) {
	bus, err := nats.Connect(w.NATS)
	if err != nil {
		return Addresses{}, err
	}
	ln, err := net.Listen("tcp", loopback)
	if err != nil {
		return Addresses{}, err
	}
	s := &http.Server{Handler: relay.NewHolder(bus)}
	go func() { slog.Error("relay", "error", s.Serve(ln)) }()
	return Addresses{HTTP: ln.Addr().String()}, nil
}
