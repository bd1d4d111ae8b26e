package zeus

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/node/nodetype"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolname"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// The defaults of docs/protocols/zeus-nodes.md#register.
const (
	defaultNodeName = "Unknown Node"
	defaultTasks    = 3
)

// Bounds of a register message and of what it says, in bytes; the registry keeps no more of a node.
const (
	maxRegister = 256 << 10
	maxInfo     = 64 << 10
)

// newInfo is what is known of a node that has not registered.
func newInfo(k *kind, node ids.NodeID) *nodev1.NodeInfo {
	return &nodev1.NodeInfo{NodeId: string(node), NodeType: k.typ, NodeName: defaultNodeName, MaxConcurrentTasks: defaultTasks}
}

type register struct {
	NodeID             string   `json:"node_id"`
	NodeName           string   `json:"node_name"`
	NodeType           string   `json:"node_type"`
	OS                 string   `json:"os"`
	OSVersion          string   `json:"os_version"`
	AppVersion         string   `json:"app_version"`
	Capabilities       []string `json:"capabilities"`
	AvailableTools     []string `json:"available_tools"`
	MaxConcurrentTasks *int32   `json:"max_concurrent_tasks"`
}

// parseRegister reads a register message of a connection on the endpoint of k whose node id is current. The error is for
// the client.
func parseRegister(frame []byte, k *kind, current ids.NodeID) (*nodev1.NodeInfo, error) {
	if len(frame) > maxRegister {
		return nil, fmt.Errorf("the register message has %d bytes, at most %d are allowed", len(frame), maxRegister)
	}
	r := register{NodeName: defaultNodeName}
	if err := jsonrpc.Decode(frame, &r); err != nil {
		return nil, err
	}
	info := newInfo(k, current)
	if r.NodeID != "" {
		if err := ids.Check("node_id", r.NodeID); err != nil && r.NodeID != string(current) {
			return nil, err
		}
		info.NodeId = r.NodeID
	}
	if r.NodeType != "" && r.NodeType != nodetype.Name(k.typ) {
		return nil, fmt.Errorf("node_type %q does not fit this endpoint, which is for %q", r.NodeType, nodetype.Name(k.typ))
	}
	if r.NodeName != "" {
		info.NodeName = r.NodeName
	}
	if tasks := r.MaxConcurrentTasks; tasks != nil {
		if *tasks < 1 {
			return nil, fmt.Errorf("max_concurrent_tasks is %d, must be at least 1", *tasks)
		}
		info.MaxConcurrentTasks = *tasks
	}
	info.Os, info.OsVersion, info.AppVersion = r.OS, r.OSVersion, r.AppVersion
	info.Capabilities, info.AvailableTools = r.Capabilities, r.AvailableTools
	if err := toolname.CheckAll(r.AvailableTools); err != nil {
		return nil, err
	}
	if size := proto.Size(info); size > maxInfo {
		return nil, fmt.Errorf("the register message says %d bytes of the node, at most %d are allowed", size, maxInfo)
	}
	return info, nil
}
