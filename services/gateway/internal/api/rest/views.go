package rest

import (
	"github.com/hecaton-dev/hecaton/pkg/node/nodetype"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
)

// List shows nodes as GET /api/node/devices does.
func List(nodes []*nodev1.Node) any {
	list := make([]node, len(nodes))
	for i, n := range nodes {
		list[i] = full(n)
	}
	return list
}

// node is a node as GET /api/node/devices lists it.
type node struct {
	shortNode
	OS                 string   `json:"os"`
	OSVersion          string   `json:"os_version"`
	AppVersion         string   `json:"app_version"`
	Capabilities       []string `json:"capabilities"`
	AvailableTools     []string `json:"available_tools"`
	CurrentTasks       int32    `json:"current_tasks"`
	MaxConcurrentTasks int32    `json:"max_concurrent_tasks"`
}

// shortNode is a node as a session look-up shows it.
type shortNode struct {
	NodeID      string `json:"node_id"`
	NodeType    string `json:"node_type"`
	NodeName    string `json:"node_name"`
	Status      string `json:"status"`
	IsConnected bool   `json:"is_connected"`
}

func short(n *nodev1.Node) shortNode {
	return shortNode{
		NodeID:      n.GetInfo().GetNodeId(),
		NodeType:    nodetype.Name(n.GetInfo().GetNodeType()),
		NodeName:    n.GetInfo().GetNodeName(),
		Status:      nodetype.StatusName(n.GetStatus()),
		IsConnected: n.GetIsConnected(),
	}
}

func shortList(nodes []*nodev1.Node) []shortNode {
	list := make([]shortNode, len(nodes))
	for i, n := range nodes {
		list[i] = short(n)
	}
	return list
}

func full(n *nodev1.Node) node {
	info := n.GetInfo()
	return node{
		shortNode: short(n), OS: info.GetOs(), OSVersion: info.GetOsVersion(), AppVersion: info.GetAppVersion(),
		Capabilities: orEmpty(info.GetCapabilities()), AvailableTools: orEmpty(info.GetAvailableTools()),
		CurrentTasks: n.GetCurrentTasks(), MaxConcurrentTasks: info.GetMaxConcurrentTasks(),
	}
}

// orEmpty makes a missing list [] and not null.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
