package devices_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/devices"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/names"
)

type registry struct{ nodes []*nodev1.Node }

func (r *registry) List(context.Context, *nodev1.ListNodesRequest) ([]*nodev1.Node, error) {
	return r.nodes, nil
}

// keeper binds what is asked for.
type keeper struct{ bound map[string]names.Owner }

func (k *keeper) ClaimNames(_ context.Context, _ ids.UserID, claims []names.Binding) (held []names.Binding, err error) {
	for _, c := range claims {
		if _, taken := k.bound[c.Name]; !taken {
			k.bound[c.Name] = c.Owner
		}
		held = append(held, names.Binding{Name: c.Name, Owner: k.bound[c.Name]})
	}
	return held, nil
}

func (k *keeper) ListNames(context.Context, ids.UserID) ([]names.Binding, error) { return nil, nil }

// source has a device with so many tools, which it describes.
func source(tools int) (*devices.Source, *registry) {
	var offered []string
	var defs []tooldef.Definition
	for i := range tools {
		name := fmt.Sprintf("browser_tool_%02d", i)
		offered = append(offered, name)
		defs = append(defs, tooldef.Definition{Name: name, Description: "Does what tool " + name + " does.", InputSchema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"integer"}}}`)})
	}
	packed, digest := tooldef.Pack(defs)
	r := &registry{nodes: []*nodev1.Node{node("n1", offered, digest)}}
	cache := tooldef.NewCache(func(context.Context, ids.UserID, string) ([]byte, error) { return packed.Packed(), nil })
	return devices.New(r, nil, names.NewBook(&keeper{map[string]names.Owner{}}), cache, nil), r
}

func node(id string, tools []string, digest string) *nodev1.Node {
	return &nodev1.Node{
		Info:        &nodev1.NodeInfo{NodeId: id, NodeName: "Chrome", NodeType: nodev1.NodeType_NODE_TYPE_EXTENSION, Os: "linux", AvailableTools: tools, ToolsDigest: digest},
		IsConnected: true, Status: nodev1.NodeStatus_NODE_STATUS_ONLINE,
	}
}

// BenchmarkTools is what a list of 50 tools costs beside the registry's look-up and the way of the request.
func BenchmarkTools(b *testing.B) {
	s, _ := source(50)
	request := &catalogue.Request{Principal: catalogue.Principal{User: "ana"}}
	b.ReportAllocs()
	for b.Loop() {
		if tools, err := s.Tools(b.Context(), request); err != nil || len(tools) != 51 {
			b.Fatal(len(tools), err)
		}
	}
}

// A list is what the registry says now, whatever was listed before, and is not changed by those who narrow it.
func TestAListIsOfTheMoment(t *testing.T) {
	t.Parallel()
	s, r := source(2)
	ask := func(user ids.UserID) string {
		tools, err := s.Tools(t.Context(), &catalogue.Request{Principal: catalogue.Principal{User: user}})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, tool := range tools {
			all = append(all, tool.Name)
		}
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	const first = "browser_tool_00 browser_tool_01 devices"
	for range 3 {
		if got := ask("ana"); got != first {
			t.Errorf("%s", got)
		}
	}
	digest := r.nodes[0].GetInfo().GetToolsDigest()
	r.nodes = []*nodev1.Node{r.nodes[0], node("n2", []string{"press"}, "")}
	if got := ask("ana"); got != first+" press" {
		t.Errorf("with another device: %s", got)
	}
	r.nodes = []*nodev1.Node{node("n1", []string{"browser_tool_01"}, digest)}
	if got := ask("ana"); got != "browser_tool_01 devices" {
		t.Errorf("without a tool: %s", got)
	}
	r.nodes = nil
	for _, user := range []ids.UserID{"ana", "bob"} {
		if got := ask(user); got != "devices" {
			t.Errorf("without a device: %s", got)
		}
	}
}
