package grpcapi

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/binding"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/watch"
)

// Keeper begins, renews and ends presence. Results are in the order of what was asked.
type Keeper interface {
	Register(ctx context.Context, regs []store.Registration) []store.Registered
	Heartbeat(ctx context.Context, beats []store.Beat) []store.Beaten
	Deregister(ctx context.Context, gateway ids.GatewayID, refs []store.Ref) []store.Deregistered
}

// Lister lists a user's nodes, first connected first.
type Lister interface {
	Nodes(ctx context.Context, user ids.UserID) ([]*nodev1.Node, error)
	// NodesAndGone lists also those that went away within the last minute.
	NodesAndGone(ctx context.Context, user ids.UserID) ([]*nodev1.Node, error)
	// Tools returns definitions of tools by their digest, packed. It fails with [store.ErrNoTools].
	Tools(ctx context.Context, user ids.UserID, digest string) ([]byte, error)
}

// Resolver says which node a session or call goes to.
type Resolver interface {
	Resolve(ctx context.Context, q binding.Query) (binding.Choice, error)
	Get(ctx context.Context, user ids.UserID, id ids.SessionID, want nodev1.NodeType) (binding.State, error)
	// Bind fails with [store.ErrNeverSeen].
	Bind(ctx context.Context, user ids.UserID, id ids.SessionID, node ids.NodeID) (*nodev1.Node, error)
}

// Watcher opens streams of node events; an empty user means everybody's.
type Watcher interface {
	Watch(ctx context.Context, user ids.UserID) (*watch.Watch, error)
}

// Reporter takes the gateways' reports.
type Reporter interface {
	ReportGateway(ctx context.Context, id ids.GatewayID, stats *nodev1.GatewayStats, ttl time.Duration) (known bool, err error)
}

// Sharer adds up what users take of their limits through all gateways. Results are in the order of uses.
type Sharer interface {
	ShareUse(ctx context.Context, gateway ids.GatewayID, ttl time.Duration, uses []store.Use) []store.Share
}

// Totals adds the reports up.
type Totals interface {
	Get(ctx context.Context) (*nodev1.GetStatsResponse, error)
}

// Options are what a [Server] is made of; all parts are required.
type Options struct {
	Keeper   Keeper
	Lister   Lister
	Resolver Resolver
	Watcher  Watcher
	Reporter Reporter
	Sharer   Sharer
	Totals   Totals
	Logger   *slog.Logger // nil means discard
}

// Server implements NodeRegistryService.
type Server struct {
	nodev1.UnimplementedNodeRegistryServiceServer
	Options

	// senders are the goroutines that write to watchers' streams.
	senders sync.WaitGroup
}

// New returns a Server.
func New(o Options) (*Server, error) {
	if err := options.Require("grpcapi", map[string]bool{
		"Keeper": o.Keeper == nil, "Lister": o.Lister == nil, "Resolver": o.Resolver == nil, "Watcher": o.Watcher == nil,
		"Reporter": o.Reporter == nil, "Sharer": o.Sharer == nil, "Totals": o.Totals == nil,
	}); err != nil {
		return nil, err
	}
	o.Logger = obs.OrDiscard(o.Logger)
	return &Server{Options: o}, nil
}

// Wait returns when no goroutine of the server is left; call it after the gRPC server has stopped.
func (s *Server) Wait() { s.senders.Wait() }
