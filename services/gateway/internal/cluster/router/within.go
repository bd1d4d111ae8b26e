package router

import (
	"context"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// chooseWithin picks the node of a call whose caller may reach some nodes only, as [Router.Choose] does among all of them; but
// no session is bound by it.
func (r *Router) chooseWithin(ctx context.Context, t Target) (ids.NodeID, error) {
	if t.Session != "" {
		s, err := r.Directory.Session(ctx, &nodev1.GetSessionRequest{
			UserId: string(t.User), SessionId: string(t.Session), NodeType: t.Type,
		})
		if err != nil {
			return "", err
		}
		if bound := ids.NodeID(s.GetNodeId()); bound != "" {
			return bound, t.Within.AllowNode(bound)
		}
	}
	nodes, err := r.Directory.List(ctx, &nodev1.ListNodesRequest{UserId: string(t.User), NodeType: t.Type})
	if err != nil {
		return "", err
	}
	var reached []*nodev1.Node
	for _, n := range nodes {
		id := ids.NodeID(n.GetInfo().GetNodeId())
		if !n.GetIsConnected() || !t.Within.Has(id) {
			continue
		}
		if id == t.Preferred {
			return id, nil
		}
		reached = append(reached, n)
	}
	switch {
	case len(reached) == 0:
		return "", errs.New(errs.NodeNotConnected, "none of the nodes that the token is limited to is connected")
	case len(reached) > 1 && t.Session != "":
		e := errs.New(errs.RequiresSelection, "%d nodes are connected; bind the session to one or name it", len(reached))
		e.Nodes = reached
		return "", e
	}
	return ids.NodeID(reached[0].GetInfo().GetNodeId()), nil
}
