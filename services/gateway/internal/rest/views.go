package rest

import (
	"encoding/json"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/nodetype"
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

// toolResult returns what a caller gets of a node's result, and whether the tool succeeded (docs/architecture.md, "REST
// results"). A result with `content` gains `text`, and `screenshot_url` in place of `_screenshot`; any other passes as it
// is.
func toolResult(raw json.RawMessage) (result any, success bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return raw, true
	}
	success = string(members["isError"]) != "true"
	var content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if members["content"] == nil || json.Unmarshal(members["content"], &content) != nil {
		return raw, success
	}
	texts := make([]string, 0, len(content))
	for _, c := range content {
		if c.Type == "text" {
			texts = append(texts, c.Text)
		}
	}
	out := make(map[string]any, len(members)+1)
	for name, value := range members {
		out[name] = value
	}
	delete(out, "_screenshot")
	out["text"] = strings.Join(texts, "\n")
	var shot string
	if json.Unmarshal(members["_screenshot"], &shot) == nil && shot != "" {
		out["screenshot_url"] = dataURL(shot)
	}
	return out, success
}

// dataURL makes a base64 picture a data: URL; one that is a data: URL already stays. JPEG begins with FF D8 FF.
func dataURL(picture string) string {
	switch {
	case strings.HasPrefix(picture, "data:"):
		return picture
	case strings.HasPrefix(picture, "/9j/"):
		return "data:image/jpeg;base64," + picture
	case strings.HasPrefix(picture, "UklGR"):
		return "data:image/webp;base64," + picture
	}
	return "data:image/png;base64," + picture
}
