package devices

import (
	"context"
	"encoding/json"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/node/nodetype"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
)

// listerName is the tool that is always there: clients that do not follow changes of the list have it, too.
const listerName = "devices"

const listerDefinition = `"title":"Devices",` +
	`"description":"Lists the user's devices that are connected now (browsers and desktops), and the tools of each by the names under which they are called.",` +
	`"inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"openWorldHint":false}`

func (s *Source) lister() catalogue.Tool {
	return catalogue.Tool{Name: listerName, Definition: []byte(listerDefinition), ReadOnly: true, Always: true, Run: s.list}
}

// device is one as the tool shows it.
type device struct {
	Node   string   `json:"node"`
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	OS     string   `json:"os,omitempty"`
	Status string   `json:"status"`
	Tools  []string `json:"tools"`
}

// list runs the tool.
func (s *Source) list(ctx context.Context, c *catalogue.Call) (catalogue.Result, error) {
	nodes, err := s.connected(ctx, c.User)
	if err != nil {
		return catalogue.Result{}, err
	}
	shown := struct {
		Devices []device `json:"devices"`
	}{Devices: []device{}}
	at := map[ids.NodeID]int{}
	for _, n := range nodes {
		id := ids.NodeID(n.GetInfo().GetNodeId())
		if !c.Uses(id) {
			continue
		}
		at[id] = len(shown.Devices)
		info := n.GetInfo()
		shown.Devices = append(shown.Devices, device{
			Node: info.GetNodeId(), Name: info.GetNodeName(), Type: nodetype.Name(info.GetNodeType()), OS: info.GetOs(), Status: nodetype.StatusName(n.GetStatus()), Tools: []string{},
		})
	}
	for _, o := range s.offers(ctx, c.User, nodes) {
		if i, ok := at[o.Node]; ok {
			shown.Devices[i].Tools = append(shown.Devices[i].Tools, o.name)
		}
	}
	raw, err := json.Marshal(shown)
	if err != nil {
		return catalogue.Result{}, err
	}
	b := jsonrpc.AppendString([]byte(`"content":[{"type":"text","text":`), string(raw))
	return catalogue.Result{Members: [][]byte{append(b, `}],"structuredContent":`...), raw, []byte(`,"isError":false`)}}, nil
}
