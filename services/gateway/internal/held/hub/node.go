package hub

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
)

// Node is a node that this pod holds.
type Node struct {
	// Static after construction.
	User  ids.UserID
	Kind  string // of client, as its dialect names it; a label of metrics
	Conn  Socket
	Codec codec.Codec
	Calls *calls.Table
	// desktop is what the node counts as: all types that are no extensions do, and a connection keeps its type.
	desktop bool

	id    atomic.Pointer[ids.NodeID] // changed by Hub.Rename only
	since atomic.Int64               // Unix nanoseconds, changed with the id
	info  atomic.Pointer[nodev1.NodeInfo]
	epoch atomic.Int64
	load  atomic.Int64 // status and current tasks, see Load
	news  atomic.Bool  // the registry has not heard of the load

	// Unregistered is set while the registry does not know the node, or not what the node last said of itself.
	Unregistered atomic.Bool
	// Retired is set once the node is about to leave the pod, which then refuses new calls to it from other pods.
	Retired atomic.Bool

	// Owned by the holder: Life is held while the node's place in the cluster changes.
	Life  sync.Mutex
	Gone  bool
	Tools tooldef.Set // those of Info: the registry wants them again once it has lost its data

	// When the pulse has to look at the node: for its vitals, and to tell the registry.
	vitals, tell turn
	active       atomic.Bool // calls may be open

	// Owned by the pulse.
	ping ping
	beat int64 // Unix nanoseconds of the last heartbeat to the registry; 0 before the first look

	place int // in its shard's list; guarded by the shard
}

// NewNode returns a node that is online and idle. kind is that of the client, c its wire format.
func NewNode(user ids.UserID, kind string, info *nodev1.NodeInfo, s Socket, c codec.Codec) *Node {
	n := &Node{User: user, Kind: kind, Conn: s, Codec: c, Calls: calls.New(s, c, int(info.GetMaxConcurrentTasks()))}
	n.desktop = info.GetNodeType() != nodev1.NodeType_NODE_TYPE_EXTENSION
	id := ids.NodeID(info.GetNodeId())
	n.name(&id)
	n.info.Store(info)
	n.SetLoad(nodev1.NodeStatus_NODE_STATUS_ONLINE, 0)
	n.news.Store(false) // the registration says it
	return n
}

// Key returns the node's name across users.
func (n *Node) Key() ids.Node { return ids.Node{User: n.User, Node: *n.id.Load()} }

// Since returns when the connection took the node's name: when it was accepted, for most.
func (n *Node) Since() time.Time { return time.Unix(0, n.since.Load()) }

func (n *Node) name(id *ids.NodeID) {
	n.id.Store(id)
	n.since.Store(time.Now().UnixNano())
}

// Info returns what the node said of itself; not to be changed.
func (n *Node) Info() *nodev1.NodeInfo { return n.info.Load() }

// SetInfo replaces what the node said of itself.
func (n *Node) SetInfo(info *nodev1.NodeInfo) {
	n.info.Store(info)
	n.Calls.SetPlaces(int(info.GetMaxConcurrentTasks()))
}

// Epoch returns the epoch of the node's last registration; 0 while the first one is on its way.
func (n *Node) Epoch() ids.Epoch { return ids.Epoch(n.epoch.Load()) }

// SetEpoch notes the epoch of a registration, whose outcome says what the pulse has to tell the registry next.
func (n *Node) SetEpoch(e ids.Epoch) {
	n.epoch.Store(int64(e))
	n.tell.soon()
}

// Load returns what the last heartbeat said.
func (n *Node) Load() (nodev1.NodeStatus, int32) {
	v := n.load.Load()
	return nodev1.NodeStatus(v >> 32), int32(v)
}

// SetLoad notes what a heartbeat said; a change goes to the registry with the next heartbeat.
func (n *Node) SetLoad(s nodev1.NodeStatus, tasks int32) {
	v := int64(s)<<32 | int64(uint32(tasks))
	if n.load.Swap(v) != v {
		n.MissBeat()
	}
}

// Start has the node run a call, and the pulse keep it alive.
func (n *Node) Start(c calls.Call, sink calls.Sink) {
	n.active.Store(true) // for those who count
	n.Calls.Start(c, sink)
	n.active.Store(true) // again, for a look before the call was there
	n.vitals.soon()
}

// Expires says that the connection's token ends at another time than before.
func (n *Node) Expires() { n.vitals.soon() }

// Offers reports whether the node takes calls of a tool: one that lists no tools takes any.
func (n *Node) Offers(tool string) bool {
	tools := n.Info().GetAvailableTools()
	if len(tools) == 0 {
		return true
	}
	return slices.Contains(tools, tool)
}
