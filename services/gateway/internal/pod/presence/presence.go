package presence

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

const (
	batchLimit = 256
	// toolsLimit is batchLimit for registrations with definitions of tools, of which each may have 300 KiB.
	toolsLimit = 8
	flushers   = 2
	// rpcTimeout bounds one RPC: a registry that is away must not hold up a handshake.
	rpcTimeout = 2 * time.Second
	// firstTry is how long a question may take before it is asked again, of the next replica: this one may be paused, which its
	// connection shows only later.
	firstTry = 700 * time.Millisecond
)

var errCount = errs.New(errs.BusUnavailable, "the node registry sent fewer or more answers than it was asked for")

// Client talks to the node registry. Its errors are *errs.Error of reason BUS_UNAVAILABLE where the registry or its
// store cannot be reached.
type Client struct {
	// Registry is the plain client, for what needs no batch.
	Registry nodev1.NodeRegistryServiceClient

	gateway   ids.GatewayID
	arrivals  batcher[*nodev1.Registration, *nodev1.RegisterResult]
	described batcher[*nodev1.Registration, *nodev1.RegisterResult] // with definitions of tools
	farewells batcher[*nodev1.NodeRef, bool]
}

// New returns a client; Close ends it.
func New(cc grpc.ClientConnInterface, gateway ids.GatewayID) *Client {
	c := &Client{Registry: nodev1.NewNodeRegistryServiceClient(cc), gateway: gateway}
	c.arrivals.flush, c.described.flush, c.farewells.flush = c.register, c.register, c.deregister
	c.arrivals.limit, c.described.limit, c.farewells.limit = batchLimit, toolsLimit, batchLimit
	c.arrivals.queue = make(chan *item[*nodev1.Registration, *nodev1.RegisterResult], batchLimit)
	c.described.queue = make(chan *item[*nodev1.Registration, *nodev1.RegisterResult], toolsLimit)
	c.farewells.queue = make(chan *item[*nodev1.NodeRef, bool], batchLimit)
	c.arrivals.start(flushers)
	c.described.start(flushers)
	c.farewells.start(flushers)
	return c
}

// Close fails what is still waiting and waits for the rest.
func (c *Client) Close() {
	c.arrivals.close()
	c.described.close()
	c.farewells.close()
}

// Register announces a connection or changes what is known of it.
func (c *Client) Register(ctx context.Context, r *nodev1.Registration) (*nodev1.RegisterResult, error) {
	r.GatewayId = string(c.gateway)
	if len(r.GetTools()) > 0 {
		return c.described.do(ctx, r)
	}
	return c.arrivals.do(ctx, r)
}

// Deregister removes a connection that ended, unless a newer one is stored.
func (c *Client) Deregister(ctx context.Context, n ids.Node, epoch ids.Epoch) error {
	_, err := c.farewells.do(ctx, &nodev1.NodeRef{UserId: string(n.User), NodeId: string(n.Node), Epoch: int64(epoch)})
	return err
}

func (c *Client) register(ctx context.Context, batch []*nodev1.Registration) ([]*nodev1.RegisterResult, error) {
	resp, err := ask(ctx, c.Registry.Register, &nodev1.RegisterRequest{Registrations: batch})
	if err == nil && len(resp.GetResults()) != len(batch) {
		return nil, errCount
	}
	return resp.GetResults(), err
}

func (c *Client) deregister(ctx context.Context, batch []*nodev1.NodeRef) ([]bool, error) {
	resp, err := ask(ctx, c.Registry.Deregister, &nodev1.DeregisterRequest{Nodes: batch, GatewayId: string(c.gateway)})
	if err == nil && len(resp.GetRemoved()) != len(batch) {
		return nil, errCount
	}
	return resp.GetRemoved(), err
}

// Heartbeat renews connections; one result for each beat.
func (c *Client) Heartbeat(ctx context.Context, beats []*nodev1.NodeBeat) ([]nodev1.BeatResult, error) {
	resp, err := ask(ctx, c.Registry.Heartbeat, &nodev1.HeartbeatRequest{GatewayId: string(c.gateway), Beats: beats})
	if err == nil && len(resp.GetResults()) != len(beats) {
		return nil, errCount
	}
	return resp.GetResults(), err
}

// Report stores the pod's statistics for ttl. known is false where the store had forgotten the one before.
func (c *Client) Report(ctx context.Context, stats *nodev1.GatewayStats, ttl time.Duration) (known bool, err error) {
	resp, err := ask(ctx, c.Registry.ReportGateway, &nodev1.ReportGatewayRequest{
		GatewayId: string(c.gateway), Stats: stats, Ttl: durationpb.New(ttl),
	})
	return resp.GetKnown(), err
}

// ShareUse tells what users took of their limits here, and what all pods together leave them; one share for each user. The
// places are held for ttl.
func (c *Client) ShareUse(ctx context.Context, ttl time.Duration, users []*nodev1.UserUse) ([]*nodev1.UserShare, error) {
	resp, err := ask(ctx, c.Registry.ShareUse, &nodev1.ShareUseRequest{
		GatewayId: string(c.gateway), Ttl: durationpb.New(ttl), Users: users,
	})
	if err == nil && len(resp.GetUsers()) != len(users) {
		return nil, errCount
	}
	return resp.GetUsers(), err
}

// Resolve picks the node of a call.
func (c *Client) Resolve(ctx context.Context, r *nodev1.ResolveNodeRequest) (*nodev1.ResolveNodeResponse, error) {
	return askTwice(ctx, c.Registry.ResolveNode, r)
}

// List lists a user's nodes.
func (c *Client) List(ctx context.Context, r *nodev1.ListNodesRequest) ([]*nodev1.Node, error) {
	resp, err := askTwice(ctx, c.Registry.ListNodes, r)
	return resp.GetNodes(), err
}

// Tools returns the definitions of a user's tools by their digest, packed; nothing where there are none any more.
func (c *Client) Tools(ctx context.Context, user ids.UserID, digest string) ([]byte, error) {
	resp, err := askTwice(ctx, c.Registry.GetTools, &nodev1.GetToolsRequest{UserId: string(user), Digest: digest})
	if status.Code(err) == codes.NotFound {
		return nil, nil
	}
	return resp.GetTools(), err
}

// Session reports the node of a session.
func (c *Client) Session(ctx context.Context, r *nodev1.GetSessionRequest) (*nodev1.GetSessionResponse, error) {
	return askTwice(ctx, c.Registry.GetSession, r)
}

// Bind ties a session to a node.
func (c *Client) Bind(ctx context.Context, r *nodev1.BindSessionRequest) (*nodev1.Node, error) {
	resp, err := ask(ctx, c.Registry.BindSession, r)
	return resp.GetNode(), err
}

// Stats adds up the statistics of all pods.
func (c *Client) Stats(ctx context.Context) (*nodev1.GatewayStats, error) {
	resp, err := askTwice(ctx, c.Registry.GetStats, &nodev1.GetStatsRequest{})
	return resp.GetTotal(), err
}

// askTwice is ask with a second try for what does no harm when it is done twice.
func askTwice[Q, A any](ctx context.Context, rpc func(context.Context, Q, ...grpc.CallOption) (A, error), q Q) (A, error) {
	return ask(ctx, func(ctx context.Context, q Q, opts ...grpc.CallOption) (A, error) {
		first, cancel := context.WithTimeout(ctx, firstTry)
		defer cancel()
		a, err := rpc(first, q, opts...)
		if err == nil || first.Err() == nil || ctx.Err() != nil {
			return a, err
		}
		return rpc(ctx, q, opts...)
	}, q)
}

// ask makes one RPC with a bound on its time.
func ask[Q, A any](ctx context.Context, rpc func(context.Context, Q, ...grpc.CallOption) (A, error), q Q) (A, error) {
	ctx, cancel := context.WithTimeout(ctx, rpcTimeout)
	defer cancel()
	a, err := rpc(ctx, q)
	return a, away(err)
}

// away turns an error of the connection to the registry into BUS_UNAVAILABLE; what the registry itself decided stays.
func away(err error) error {
	if err == nil {
		return nil
	}
	err = errs.FromGRPC(err)
	var own *errs.Error
	if code := status.Code(err); errors.As(err, &own) || code == codes.InvalidArgument || code == codes.NotFound {
		return err
	}
	return errs.New(errs.BusUnavailable, "the node registry cannot be reached: %w", err)
}
