package binding

import (
	"context"
	"slices"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/node-registry/internal/store"
)

// Sessions is the store as a Resolver needs it.
type Sessions interface {
	// Session reads a session; one that is in use lives on.
	Session(ctx context.Context, user ids.UserID, session ids.SessionID, inUse bool) (store.Session, error)
	// SessionAndNodes reads the live nodes, too, first connected first.
	SessionAndNodes(ctx context.Context, user ids.UserID, session ids.SessionID, inUse bool) (store.Session, []*nodev1.Node, error)
	// Load returns those of the nodes that are live still, first connected first.
	Load(ctx context.Context, user ids.UserID, live []ids.NodeID) ([]*nodev1.Node, error)
	// Nodes returns the live nodes, first connected first.
	Nodes(ctx context.Context, user ids.UserID) ([]*nodev1.Node, error)
	// Bind ties a session to a node and returns what is known of that; [store.ErrNeverSeen] where there never was one.
	Bind(ctx context.Context, user ids.UserID, session ids.SessionID, node ids.NodeID) (last *nodev1.Node, err error)
	// Adopt ties a session to a node unless it is bound, and returns the node that it is bound to now.
	Adopt(ctx context.Context, user ids.UserID, session ids.SessionID, node ids.NodeID) (ids.NodeID, error)
}

// Resolver applies the rules of this package. It is safe for concurrent use.
type Resolver struct{ sessions Sessions }

// NewResolver returns a Resolver.
func NewResolver(sessions Sessions) *Resolver { return &Resolver{sessions: sessions} }

// Query asks for the node of a call.
type Query struct {
	User ids.UserID
	// Session may be empty.
	Session ids.SessionID
	// Preferred may be empty.
	Preferred ids.NodeID
	// Type where unspecified is any.
	Type nodev1.NodeType
	// Describe asks for what is known of the node of a session, too.
	Describe bool
}

// Resolve picks the node of a call, and binds an unbound session to it.
func (r *Resolver) Resolve(ctx context.Context, q Query) (Choice, error) {
	if q.Session == "" {
		live, err := r.sessions.Nodes(ctx, q.User)
		if err != nil {
			return Choice{}, err
		}
		return choose(live, q), nil
	}
	if q.Describe {
		return r.resolveDescribed(ctx, q)
	}
	session, err := r.sessions.Session(ctx, q.User, q.Session, true)
	if err != nil {
		return Choice{}, err
	}
	if session.Bound != "" && fits(session.Last, q.Type) {
		return Choice{Node: session.Bound, Bound: true}, nil
	}
	live, err := r.sessions.Load(ctx, q.User, session.Live)
	if err != nil {
		return Choice{}, err
	}
	return r.settle(ctx, q, session, live)
}

// resolveDescribed is Resolve for a session whose node is to be described, too.
func (r *Resolver) resolveDescribed(ctx context.Context, q Query) (Choice, error) {
	session, live, err := r.sessions.SessionAndNodes(ctx, q.User, q.Session, true)
	if err != nil {
		return Choice{}, err
	}
	if session.Bound != "" && fits(session.Last, q.Type) {
		return Choice{Node: session.Bound, Bound: true, Described: current(session.Last, live)}, nil
	}
	choice, err := r.settle(ctx, q, session, live)
	if i := slices.IndexFunc(live, func(n *nodev1.Node) bool { return n.GetInfo().GetNodeId() == string(choice.Node) }); err == nil && i >= 0 {
		choice.Described = live[i]
	}
	return choice, err
}

// settle chooses for a session that is not bound for this type, and binds one that is not bound at all.
func (r *Resolver) settle(ctx context.Context, q Query, session store.Session, live []*nodev1.Node) (Choice, error) {
	choice := choose(live, q)
	if choice.Node == "" || session.Bound != "" {
		return choice, nil
	}
	return r.adopt(ctx, q, choice, live)
}

// adopt binds the session to the choice, or finds that another replica bound it a moment ago.
func (r *Resolver) adopt(ctx context.Context, q Query, choice Choice, live []*nodev1.Node) (Choice, error) {
	bound, err := r.sessions.Adopt(ctx, q.User, q.Session, choice.Node)
	if err != nil {
		return Choice{}, err
	}
	other := slices.ContainsFunc(live, func(n *nodev1.Node) bool {
		return n.GetInfo().GetNodeId() == string(bound) && !fits(n, q.Type)
	})
	if other {
		return choice, nil // bound for calls of the other type
	}
	return Choice{Node: bound, Bound: true}, nil
}

// State is what a session looks like from outside.
type State struct {
	// Node is the bound node, not connected where it is not; nil where the session is not bound.
	Node *nodev1.Node
	// Available are the nodes that can be selected, where the session is not bound.
	Available []*nodev1.Node
}

// Get reports a session without changing anything. Where the bound node is known not to be of the type asked for, the
// session is not bound for that type.
func (r *Resolver) Get(ctx context.Context, user ids.UserID, id ids.SessionID, want nodev1.NodeType) (State, error) {
	session, live, err := r.sessions.SessionAndNodes(ctx, user, id, false)
	if err != nil {
		return State{}, err
	}
	if session.Bound != "" && fits(session.Last, want) {
		return State{Node: current(session.Last, live)}, nil
	}
	return State{Available: selectable(live, want)}, nil
}

// Bind ties a session to a node and describes the node as it is now.
func (r *Resolver) Bind(ctx context.Context, user ids.UserID, id ids.SessionID, node ids.NodeID) (*nodev1.Node, error) {
	last, err := r.sessions.Bind(ctx, user, id, node)
	if err != nil {
		return nil, err
	}
	live, err := r.sessions.Load(ctx, user, []ids.NodeID{node})
	if err != nil {
		return nil, err
	}
	return current(last, live), nil
}

// current returns the node as it is while it is live, else as it was last known.
func current(last *nodev1.Node, live []*nodev1.Node) *nodev1.Node {
	for _, n := range live {
		if n.GetInfo().GetNodeId() == last.GetInfo().GetNodeId() {
			return n
		}
	}
	return last
}
