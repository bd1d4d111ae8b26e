package connector

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/node/nodetype"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// patience is how long nodes are waited for.
type patience struct {
	// returning is how long a disconnected node may take to connect again: one whose gateway drains is back in a second or two.
	returning time.Duration
	// settling is how long a node may take to register, after it has connected.
	settling time.Duration
	// relist is the least time between two listings of one run's tools.
	relist time.Duration
}

var usual = patience{returning: 3 * time.Second, settling: time.Second, relist: 3 * time.Second}

// While it waits for a node, the connector looks for it after firstLook, then after twice as long each time, up to lastLook.
const firstLook, lastLook = 25 * time.Millisecond, 400 * time.Millisecond

// device is what a node registered as: another device that uses the same node id has registered as something else, unless it
// lies.
func device(n *nodev1.Node) string {
	info := n.GetInfo()
	return strings.Join([]string{nodetype.Name(info.GetNodeType()), strconv.Quote(info.GetNodeName()), strconv.Quote(info.GetOs())}, "|")
}

// Mark is the [tool.Place.Mark] of a node.
func Mark(n *nodev1.Node) string { return mark(n) }

// mark identifies the connection of a device. No other connection has the same.
func mark(n *nodev1.Node) string { return device(n) + "|" + strconv.FormatInt(n.GetEpoch(), 10) }

// sameDevice reports whether a node has registered as the one of a mark had.
func sameDevice(n *nodev1.Node, mark string) bool { return strings.HasPrefix(mark, device(n)+"|") }

// registered reports whether a node has registered; until then all nodes of a type have the same name.
func registered(n *nodev1.Node) bool {
	return len(n.GetInfo().GetAvailableTools()) > 0 || n.GetInfo().GetOs() != ""
}

// locate returns the session's node, and binds the session if it is not bound yet. It waits a little for a node that is
// disconnected, and for one of which asItShould is false, but may return such a node in the end. The error is a
// *tool.Selection, or a *tool.Failure if there is no node: nothing was sent.
func (k *runTools) locate(ctx context.Context, asItShould func(*nodev1.Node) bool) (*nodev1.Node, error) {
	began := time.Now()
	for look := firstLook; ; look = min(2*look, lastLook) {
		n, err := k.resolve(ctx)
		if err != nil {
			return nil, err
		}
		waited := time.Since(began)
		switch {
		case n.GetIsConnected() && (asItShould(n) || waited >= k.patience.settling):
			return n, nil
		case waited >= k.patience.returning && n != nil:
			return n, nil
		case waited >= k.patience.returning:
			k.stale.Store(true)
			return nil, unsent(errs.NodeNotConnected, "no browser or desktop of the user is connected")
		}
		if !sleep.For(ctx, look) {
			return nil, unsent(errs.Cancelled, "the call was given up before it was sent")
		}
	}
}

// resolve asks once; the node is nil if there is none.
func (k *runTools) resolve(ctx context.Context) (*nodev1.Node, error) {
	resp, err := k.gateways.ResolveNode(ctx, &toolv1.ResolveNodeRequest{
		UserId: string(k.scope.User), SessionId: string(k.scope.Session), PreferredNodeId: k.scope.Preferred,
	})
	switch {
	case err != nil:
		failure := failed(err)
		failure.Outcome = tool.NotDelivered // whatever the error, no tool was called
		return nil, failure
	case resp.GetRequiresSelection():
		return nil, &tool.Selection{Nodes: resp.GetAvailableNodes()}
	}
	if n := resp.GetNode(); n != nil && n.GetInfo().GetNodeId() != k.node {
		k.stale.Store(true) // the tools are another node's
	}
	return resp.GetNode(), nil
}

func away(n *nodev1.Node) *tool.Failure {
	return unsent(errs.NodeNotConnected, describe(n)+", to which this conversation is bound, is not connected")
}

func unsent(reason errs.Reason, message string) *tool.Failure {
	return &tool.Failure{Outcome: tool.NotDelivered, Reason: string(reason), Message: message}
}

// failed turns an error of reaching the node into the failure of the call.
func failed(err error) *tool.Failure {
	var e *errs.Error
	if errors.As(err, &e) {
		return &tool.Failure{Outcome: string(e.Class()), Reason: string(e.Reason), Message: e.Message}
	}
	st := status.Convert(err)
	switch st.Code() {
	case codes.InvalidArgument:
		return &tool.Failure{Outcome: tool.Invalid, Message: st.Message()}
	case codes.Internal: // the gateway failed before it sent anything (package toolclient)
		return &tool.Failure{Outcome: tool.NotDelivered, Message: "the gateway failed"}
	}
	return &tool.Failure{Outcome: tool.Unknown, Message: "the gateway cannot be asked"}
}
