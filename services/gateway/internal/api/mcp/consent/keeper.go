package consent

import (
	"context"
	"log/slog"
	"sync"

	"github.com/nats-io/nats.go"
	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
)

// Admitter decides about calls of devices' tools (the orchestrators).
type Admitter interface {
	Admit(context.Context, *agentv1.AdmitRequest, ...grpc.CallOption) (*agentv1.AdmitResponse, error)
}

// Options are what a Keeper is made of.
type Options struct {
	// Admitter and Bus are required.
	Admitter Admitter
	Bus      *bus.Conn
	// AskNewUsers has the settings of new users hold for those who have chosen none.
	AskNewUsers bool
	// Address is the URL of the gateways, without a slash at its end; empty where it is not known.
	Address string
	// Logger hears when settings cannot be asked for; nil discards.
	Logger *slog.Logger
}

// Keeper admits calls. A nil one admits all: there are no settings. It is safe for concurrent use.
type Keeper struct {
	// Static after construction.
	admitter Admitter
	askNew   bool
	address  string
	log      *slog.Logger
	sub      *nats.Subscription

	mu      sync.Mutex
	heard   uint64 // how often something was said to have changed
	pages   map[ids.UserID]*page
	waiters map[ids.UserID]map[chan struct{}]bool
}

// New returns a Keeper that hears of changes until Close.
func New(o Options) (*Keeper, error) {
	k := &Keeper{
		admitter: o.Admitter, askNew: o.AskNewUsers, address: o.Address, log: obs.OrDiscard(o.Logger),
		pages: make(map[ids.UserID]*page), waiters: make(map[ids.UserID]map[chan struct{}]bool),
	}
	var err error
	if k.sub, err = o.Bus.Subscribe(bus.AllApprovals, k.hear); err != nil {
		return nil, err
	}
	o.Bus.OnReconnect(k.forgetAll)
	return k, nil
}

// Close stops hearing.
func (k *Keeper) Close() {
	if k != nil {
		_ = k.sub.Unsubscribe() // fails only where the connection is closed
	}
}

// Device admits a call of a device's tool. Find looks up the device, and is called where its connection has to be known; epoch is
// that connection, 0 for any. Where the call finds that connection gone, [Keeper.Forget] makes the next attempt look again.
func (k *Keeper) Device(
	ctx context.Context, c *catalogue.Call, node ids.NodeID, tool string, find func(context.Context) (*nodev1.Node, error),
) (epoch ids.Epoch, err error) {
	if k == nil {
		return 0, nil
	}
	if epoch, ok := k.remembered(c.User, node, tool); ok {
		return epoch, nil
	}
	n, err := find(ctx)
	if err != nil {
		return 0, err
	}
	seen := k.seen()
	admitted, err := k.settle(ctx, c, func(ctx context.Context, consent *agentv1.Consent) (*agentv1.Admission, error) {
		ctx, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		resp, err := k.admitter.Admit(auth.OnBehalf(ctx, c.User), &agentv1.AdmitRequest{Consent: consent, Node: n, Tool: tool, ArgumentsJson: c.Arguments})
		return resp.GetAdmission(), errs.FromGRPC(err)
	})
	if err != nil {
		if epoch, ok := k.stale(c.User, node, tool); ok && unavailable(err) {
			return epoch, nil
		}
		return 0, k.refusal(err)
	}
	k.remember(c.User, node, tool, ids.Epoch(n.GetEpoch()), admitted.GetStanding(), seen)
	return ids.Epoch(n.GetEpoch()), nil
}

// Service admits a call of a service's tool. Call makes the call where it may run, and returns nil or a RUN then; its errors are
// returned as they are.
func (k *Keeper) Service(ctx context.Context, c *catalogue.Call, call func(context.Context, *agentv1.Consent) (*agentv1.Admission, error)) error {
	if k == nil {
		_, err := call(ctx, nil)
		return err
	}
	_, err := k.settle(ctx, c, call)
	return err
}

// hear takes the word that a user's settings have changed, or a call was decided.
func (k *Keeper) hear(m *nats.Msg) {
	user, err := bus.ParseApprovals(m.Subject)
	if err != nil {
		k.log.Warn("a message about approvals cannot be read", "error", err)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.heard++
	delete(k.pages, user)
	k.wake(user)
}

// forgetAll is for when messages may have been lost.
func (k *Keeper) forgetAll() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.heard++
	clear(k.pages)
	for user := range k.waiters {
		k.wake(user)
	}
}

// wake is called with mu held.
func (k *Keeper) wake(user ids.UserID) {
	for ch := range k.waiters[user] {
		select {
		case ch <- struct{}{}:
		default: // it has not looked yet
		}
	}
}

// watch returns a channel that has something in it after each change of a user's approvals, until stop is called.
func (k *Keeper) watch(user ids.UserID) (changed <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.waiters[user] == nil {
		k.waiters[user] = make(map[chan struct{}]bool)
	}
	k.waiters[user][ch] = true
	return ch, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if delete(k.waiters[user], ch); len(k.waiters[user]) == 0 {
			delete(k.waiters, user)
		}
	}
}
