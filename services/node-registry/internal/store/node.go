package store

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolname"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// MaxInfoBytes bounds what a node says of itself; it is kept twice, and travels with every event.
const MaxInfoBytes = 64 << 10

// Info is a node's description of itself, checked and encoded.
type Info struct {
	message *nodev1.NodeInfo
	encoded []byte
}

// NewInfo checks an info. The error is for people.
func NewInfo(info *nodev1.NodeInfo) (Info, error) {
	if err := ids.Check("node_id", info.GetNodeId()); err != nil {
		return Info{}, err
	}
	switch info.GetNodeType() {
	case nodev1.NodeType_NODE_TYPE_EXTENSION, nodev1.NodeType_NODE_TYPE_DESKTOP:
	default:
		return Info{}, fmt.Errorf("node_type must be EXTENSION or DESKTOP, not %v", info.GetNodeType())
	}
	if err := toolname.CheckAll(info.GetAvailableTools()); err != nil {
		return Info{}, err
	}
	if digest := info.GetToolsDigest(); digest != "" {
		if err := tooldef.CheckDigest(digest); err != nil {
			return Info{}, err
		}
	}
	// Equal infos are equal bytes: a script compares them.
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(info)
	if err != nil {
		return Info{}, fmt.Errorf("node info: %w", err)
	}
	if len(encoded) > MaxInfoBytes {
		return Info{}, fmt.Errorf("node info has %d bytes, at most %d are allowed", len(encoded), MaxInfoBytes)
	}
	return Info{message: info, encoded: encoded}, nil
}

func (i Info) node() ids.NodeID { return ids.NodeID(i.message.GetNodeId()) }

// liveNode reads the hash of a live connection.
func liveNode(hash map[string]string) (*nodev1.Node, error) {
	info := &nodev1.NodeInfo{}
	if err := proto.Unmarshal([]byte(hash["info"]), info); err != nil {
		return nil, fmt.Errorf("%w: info of a node: %w", errReply, err)
	}
	var p numbers
	node := &nodev1.Node{
		Info:         info,
		Status:       nodev1.NodeStatus(p.parse(hash["status"])),
		CurrentTasks: int32(p.parse(hash["tasks"])),
		IsConnected:  true,
		GatewayId:    hash["gateway"],
		Epoch:        p.parse(hash["epoch"]),
		ConnectedAt:  timestamppb.New(time.Unix(0, p.parse(hash["connected"]))),
		LastSeenAt:   timestamppb.New(fromMS(p.parse(hash["seen"]))),
	}
	return node, p.err
}

// goneNode is a node that is not connected, from its entry in "last"; without one, only its id is known. A zero time
// leaves it open when the node went.
func goneNode(id ids.NodeID, entry string, went time.Time) (*nodev1.Node, error) {
	node := &nodev1.Node{Info: &nodev1.NodeInfo{NodeId: string(id)}, Status: nodev1.NodeStatus_NODE_STATUS_OFFLINE}
	if !went.IsZero() {
		node.LastSeenAt = timestamppb.New(went)
	}
	if entry == "" {
		return node, nil
	}
	parts := strings.SplitN(entry, " ", 3)
	if len(parts) != 3 {
		return nil, fmt.Errorf("%w: entry of a node that is gone", errReply)
	}
	if err := proto.Unmarshal([]byte(parts[2]), node.Info); err != nil {
		return nil, fmt.Errorf("%w: info of a node that is gone: %w", errReply, err)
	}
	var p numbers
	node.Epoch = p.parse(parts[0])
	node.ConnectedAt = timestamppb.New(time.Unix(0, p.parse(parts[1])))
	return node, p.err
}

// numbers parses decimal fields; the first error sticks.
type numbers struct{ err error }

func (p *numbers) parse(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("%w: %w", errReply, err)
	}
	return n
}

// sortByConnection puts the node first that connected first.
func sortByConnection(nodes []*nodev1.Node) {
	slices.SortFunc(nodes, func(a, b *nodev1.Node) int {
		return cmp.Or(
			a.GetConnectedAt().AsTime().Compare(b.GetConnectedAt().AsTime()),
			cmp.Compare(a.GetEpoch(), b.GetEpoch()),
			strings.Compare(a.GetInfo().GetNodeId(), b.GetInfo().GetNodeId()),
		)
	})
}

// event is what happened to a node, for those who watch.
func event(kind nodev1.NodeEvent_Kind, user ids.UserID, node *nodev1.Node, at time.Time) *nodev1.NodeEvent {
	return &nodev1.NodeEvent{Kind: kind, UserId: string(user), Node: node, At: timestamppb.New(at)}
}
