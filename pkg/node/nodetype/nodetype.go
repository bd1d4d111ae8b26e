// Package nodetype spells node types and statuses as clients do (docs/protocols/zeus-nodes.md#register,
// docs/protocols/zeus-nodes.md#heartbeat).
package nodetype

import nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"

var types = map[string]nodev1.NodeType{
	"extension": nodev1.NodeType_NODE_TYPE_EXTENSION,
	"desktop":   nodev1.NodeType_NODE_TYPE_DESKTOP,
}

var statuses = map[string]nodev1.NodeStatus{
	"online":  nodev1.NodeStatus_NODE_STATUS_ONLINE,
	"busy":    nodev1.NodeStatus_NODE_STATUS_BUSY,
	"offline": nodev1.NodeStatus_NODE_STATUS_OFFLINE,
}

// Name returns "extension" or "desktop", and "" for anything else.
func Name(t nodev1.NodeType) string {
	switch t {
	case nodev1.NodeType_NODE_TYPE_EXTENSION:
		return "extension"
	case nodev1.NodeType_NODE_TYPE_DESKTOP:
		return "desktop"
	}
	return ""
}

// Parse reverses [Name].
func Parse(name string) (nodev1.NodeType, bool) {
	t, ok := types[name]
	return t, ok
}

// StatusName returns "online", "busy" or "offline"; what is unknown is offline.
func StatusName(s nodev1.NodeStatus) string {
	switch s {
	case nodev1.NodeStatus_NODE_STATUS_ONLINE:
		return "online"
	case nodev1.NodeStatus_NODE_STATUS_BUSY:
		return "busy"
	}
	return "offline"
}

// ParseStatus reverses [StatusName].
func ParseStatus(name string) (nodev1.NodeStatus, bool) {
	s, ok := statuses[name]
	return s, ok
}
