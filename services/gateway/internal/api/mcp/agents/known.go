package agents

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/names"
)

// Nodes lists the devices of a user.
type Nodes interface {
	List(context.Context, *nodev1.ListNodesRequest) ([]*nodev1.Node, error)
}

// Known has the well-known tools of desktops (docs/protocols/zeus-agents.md#well-known-tools) under their plain names, which stand
// for whichever device has them: the user's workflows, `list_workflows`, `hitl_prompt`, `desktop_exec` and `browser_read`. Where
// several devices have one, the person says which is meant. The same tools have long names as any device's, which always mean one.
type Known struct {
	// Nodes has the devices, and Definitions what they say of their tools.
	Nodes       Nodes
	Definitions *tooldef.Cache
	// Devices runs their tools.
	Devices catalogue.Source
}

const workflowPrefix = "workflow_"

// known reports whether a tool's name means the same on any device. Names that clients do not take have no plain form.
func known(tool string) bool {
	if workflow, ok := strings.CutPrefix(tool, workflowPrefix); ok {
		return workflow != "" && len(tool) <= names.MaxBytes && !strings.ContainsFunc(tool, func(r rune) bool {
			return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		})
	}
	return tool == "list_workflows" || tool == "hitl_prompt" || tool == "desktop_exec" || tool == "browser_read"
}

// Tools implements [catalogue.Source]: the tools that some device has now.
func (k *Known) Tools(ctx context.Context, r *catalogue.Request) ([]catalogue.Tool, error) {
	owners, err := k.owners(ctx, r, known)
	if err != nil {
		return nil, err
	}
	var tools []catalogue.Tool
	for _, name := range slices.Sorted(maps.Keys(owners)) {
		tools = append(tools, k.tool(ctx, r, name, owners[name]))
	}
	return tools, nil
}

// Find implements [catalogue.Source]. The name is one also while no device has the tool: its call says so.
func (k *Known) Find(ctx context.Context, r *catalogue.Request, name string) (t catalogue.Tool, ok bool, err error) {
	if !known(name) {
		return t, false, nil
	}
	owners, err := k.owners(ctx, r, func(tool string) bool { return tool == name })
	if err != nil {
		return t, false, err
	}
	return k.tool(ctx, r, name, owners[name]), true, nil
}

// owners are the devices that have each of the wanted tools, those that connected first first.
func (k *Known) owners(ctx context.Context, r *catalogue.Request, wanted func(tool string) bool) (map[string][]*nodev1.Node, error) {
	nodes, err := k.Nodes.List(ctx, &nodev1.ListNodesRequest{UserId: string(r.User)})
	if err != nil {
		return nil, err
	}
	owners := map[string][]*nodev1.Node{}
	for _, n := range nodes {
		id := ids.NodeID(n.GetInfo().GetNodeId())
		if !n.GetIsConnected() || n.GetStatus() == nodev1.NodeStatus_NODE_STATUS_OFFLINE || !r.Uses(id) {
			continue
		}
		for _, tool := range n.GetInfo().GetAvailableTools() {
			if wanted(tool) && !slices.Contains(owners[tool], n) {
				owners[tool] = append(owners[tool], n)
			}
		}
	}
	return owners, nil
}

// tool describes a tool as the first device does that has it.
func (k *Known) tool(ctx context.Context, r *catalogue.Request, name string, owners []*nodev1.Node) catalogue.Tool {
	t := catalogue.Tool{
		Name: name, Timeout: func(arguments []byte) time.Duration { return tooldef.Timeout(name, arguments) },
		Run: func(ctx context.Context, c *catalogue.Call) (catalogue.Result, error) {
			return k.run(ctx, c, name, owners)
		},
	}
	if len(owners) == 0 {
		return t
	}
	first := owners[0].GetInfo()
	// Where the definitions cannot be had just now, one is made.
	given, _ := k.Definitions.Given(ctx, r.User, first)
	d, ok := given[name]
	if !ok {
		d = tooldef.Made(name, first)
	}
	var on []string
	for _, n := range owners {
		on = append(on, tooldef.Describe(n.GetInfo()))
	}
	d.Description += " It runs on " + strings.Join(on, " or ") + "."
	d.OutputSchema = nil // another device may answer otherwise
	t.ReadOnly = d.ReadOnly()
	t.Definition = d.AppendMembers(nil)
	return t
}

// run calls the tool on the one device that has it, or on the one that the person chooses.
func (k *Known) run(ctx context.Context, c *catalogue.Call, name string, owners []*nodev1.Node) (catalogue.Result, error) {
	node, err := chooseNode(ctx, c, name, owners)
	if err != nil {
		return catalogue.Result{}, err
	}
	long := names.Long(ids.NodeID(node.GetInfo().GetNodeId()), name)
	t, ok, err := k.Devices.Find(ctx, &c.Request, long)
	switch {
	case err != nil:
		return catalogue.Result{}, err
	case !ok:
		return catalogue.Result{}, errs.New(errs.NodeNotConnected, "%s, which has the tool %s, has just disconnected", tooldef.Describe(node.GetInfo()), name)
	}
	return t.Run(ctx, c)
}

func chooseNode(ctx context.Context, c *catalogue.Call, name string, owners []*nodev1.Node) (*nodev1.Node, error) {
	switch len(owners) {
	case 0:
		return nil, errs.New(errs.NodeNotConnected, "no device that has the tool %s is connected now", name)
	case 1:
		return owners[0], nil
	}
	answer, err := c.Ask(ctx, askNode(fmt.Sprintf("%d devices have the tool %s. On which one shall it run?", len(owners), name), "node", owners))
	refused := errs.New(errs.RequiresSelection, "%d devices have the tool %s: call it by the name that says on which one, such as %s",
		len(owners), name, names.Long(ids.NodeID(owners[0].GetInfo().GetNodeId()), name))
	switch {
	case errors.Is(err, catalogue.ErrCannotAsk):
		return nil, refused
	case err != nil:
		return nil, err
	}
	chosen := jsonrpc.StringMember(answer.Content, "node")
	i := slices.IndexFunc(owners, func(n *nodev1.Node) bool { return n.GetInfo().GetNodeId() == chosen })
	if answer.Action != catalogue.Accept || i < 0 {
		refused.Message = "the person did not choose a device"
		return nil, refused
	}
	return owners[i], nil
}
