package zeus

import (
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/node/nodetype"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	"github.com/hecaton-dev/hecaton/pkg/tool/toolname"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
)

// The defaults of docs/protocols/zeus-nodes.md#register.
const (
	defaultNodeName = "Unknown Node"
	defaultTasks    = 3
)

// Bounds of a register message and of what it says beside the definitions of tools, in bytes; the registry keeps no more of a
// node.
const (
	maxRegister = 512 << 10
	maxInfo     = 64 << 10
)

// maxProblems is how many of the definitions that were refused the node is told of.
const maxProblems = 8

// newInfo is what is known of a node that has not registered.
func newInfo(k *kind, node ids.NodeID) *nodev1.NodeInfo {
	return &nodev1.NodeInfo{NodeId: string(node), NodeType: k.typ, NodeName: defaultNodeName, MaxConcurrentTasks: defaultTasks}
}

type register struct {
	NodeID             string          `json:"node_id"`
	NodeName           string          `json:"node_name"`
	NodeType           string          `json:"node_type"`
	OS                 string          `json:"os"`
	OSVersion          string          `json:"os_version"`
	AppVersion         string          `json:"app_version"`
	Capabilities       []string        `json:"capabilities"`
	AvailableTools     []string        `json:"available_tools"`
	Tools              json.RawMessage `json:"tools"`
	MaxConcurrentTasks *int32          `json:"max_concurrent_tasks"`
}

// parseRegister reads a register message of a connection on the endpoint of k whose node id is current. The error is for
// the client.
func parseRegister(frame []byte, k *kind, current ids.NodeID) (*codec.Registration, error) {
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
	out := &codec.Registration{Info: info}
	if err := addTools(out, r.Tools); err != nil {
		return nil, err
	}
	if err := toolname.CheckAll(info.GetAvailableTools()); err != nil {
		return nil, err
	}
	if size := proto.Size(info); size > maxInfo {
		return nil, fmt.Errorf("the register message says %d bytes of the node, at most %d are allowed", size, maxInfo)
	}
	return out, nil
}

// addTools adds the tools that come with definitions.
func addTools(to *codec.Registration, tools []byte) error {
	if jsonrpc.IsNull(tools) {
		return nil
	}
	said, err := tooldef.Read(tools)
	if err != nil {
		return err
	}
	offered := make(map[string]bool, len(to.Info.GetAvailableTools()))
	for _, name := range to.Info.GetAvailableTools() {
		offered[name] = true
	}
	for _, name := range said.Names {
		if !offered[name] {
			to.Info.AvailableTools = append(to.Info.AvailableTools, name)
		}
	}
	to.Tools, to.Info.ToolsDigest = said.Set, said.Digest
	if to.Refused = len(said.Problems); to.Refused > 0 {
		to.Remark = errorFrame(remark(said.Problems))
	}
	return nil
}

// remark says which definitions were refused.
func remark(problems []error) string {
	shown := make([]string, 0, maxProblems+1)
	for i, problem := range problems {
		if i == maxProblems {
			shown = append(shown, fmt.Sprintf("and %d more", len(problems)-i))
			break
		}
		shown = append(shown, problem.Error())
	}
	return "definitions of tools were refused: " + strings.Join(shown, "; ")
}
