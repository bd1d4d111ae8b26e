package binding

import (
	"github.com/hecaton-dev/hecaton/pkg/ids"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// Choice is where a call goes.
type Choice struct {
	// Node is empty where none can be chosen.
	Node ids.NodeID
	// Bound tells whether the session is bound to Node now.
	Bound bool
	// Described is what is known of Node, where that was asked for; nil where it is not known.
	Described *nodev1.Node
	// Selection are the nodes among which somebody has to choose; empty where there are none.
	Selection []*nodev1.Node
}

// choose picks for a session that is not bound, or for none, among the live nodes, first connected first.
func choose(live []*nodev1.Node, q Query) Choice {
	for _, n := range live {
		if id := ids.NodeID(n.GetInfo().GetNodeId()); id == q.Preferred && fits(n, q.Type) {
			return Choice{Node: id}
		}
	}
	candidates := selectable(live, q.Type)
	switch {
	case len(candidates) == 0:
		return Choice{}
	case len(candidates) == 1 || q.Session == "":
		return Choice{Node: ids.NodeID(candidates[0].GetInfo().GetNodeId())}
	}
	return Choice{Selection: candidates}
}

// selectable returns the nodes of a type that let themselves be selected.
func selectable(live []*nodev1.Node, want nodev1.NodeType) []*nodev1.Node {
	var out []*nodev1.Node
	for _, n := range live {
		if fits(n, want) && n.GetStatus() != nodev1.NodeStatus_NODE_STATUS_OFFLINE {
			out = append(out, n)
		}
	}
	return out
}

// fits tells whether a node may be of the type that is wanted: a type that is not known may be any.
func fits(n *nodev1.Node, want nodev1.NodeType) bool {
	got := n.GetInfo().GetNodeType()
	return got == want || got == nodev1.NodeType_NODE_TYPE_UNSPECIFIED || want == nodev1.NodeType_NODE_TYPE_UNSPECIFIED
}
