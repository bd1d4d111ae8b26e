package connector

import (
	"context"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// look returns the nodes whose tools a run has. It waits a little for nodes that are likely to connect: a run may begin just
// when a draining gateway has closed its connections.
func (k *runTools) look(ctx context.Context) (*toolv1.ResolveNodeResponse, error) {
	began := time.Now()
	for next := firstLook; ; next = min(2*next, lastLook) {
		resp, err := k.gateways.ResolveNode(ctx, &toolv1.ResolveNodeRequest{
			UserId: string(k.scope.User), SessionId: string(k.scope.Session), PreferredNodeId: k.scope.Preferred, DryRun: true,
		})
		if err != nil || !k.expects(ctx, resp, time.Since(began)) || !sleep.For(ctx, next) {
			return resp, err
		}
	}
}

// expects reports whether another look is likely to show more: a node has connected and not registered yet, or there is no
// node and one has just disconnected, or the run names a node that is unknown: Redis may have been emptied, and gateways
// register their nodes again within a second.
func (k *runTools) expects(ctx context.Context, resp *toolv1.ResolveNodeResponse, waited time.Duration) bool {
	nodes := resp.GetAvailableNodes()
	if n := resp.GetNode(); n != nil {
		nodes = []*nodev1.Node{n}
	}
	for _, n := range nodes {
		if n.GetIsConnected() && !registered(n) && waited < k.patience.settling && since(n.GetConnectedAt()) < k.patience.settling {
			return true
		}
	}
	if waited >= k.patience.returning {
		return false
	}
	if k.scope.Preferred != "" && resp.GetNode() == nil {
		return true
	}
	if len(nodes) > 0 {
		return false
	}
	list, err := k.gateways.ListNodes(ctx, &toolv1.ListNodesRequest{UserId: string(k.scope.User), IncludeOffline: true})
	if err != nil {
		return false
	}
	for _, n := range list.GetNodes() {
		back := n.GetIsConnected() && n.GetStatus() != nodev1.NodeStatus_NODE_STATUS_OFFLINE // meanwhile
		if back || !n.GetIsConnected() && since(n.GetLastSeenAt()) < k.patience.returning {
			return true
		}
	}
	return false
}

// since is how long ago something happened by another machine's clock; a long time if it never happened.
func since(at interface{ AsTime() time.Time }) time.Duration { return time.Since(at.AsTime()) }
