package devices

import (
	"context"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/consent"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/names"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
)

// Registry lists the devices of a user.
type Registry interface {
	List(context.Context, *nodev1.ListNodesRequest) ([]*nodev1.Node, error)
}

// Caller runs calls at devices.
type Caller interface {
	Call(ctx context.Context, req router.Request, progress func(params []byte)) (*router.Answer, error)
}

// Source is the tools of devices, and the tool that lists these. It is safe for concurrent use.
type Source struct {
	// Static after construction.
	registry Registry
	caller   Caller
	book     *names.Book
	defs     *tooldef.Cache
	consent  *consent.Keeper
	shelf    *shelf
}

// New returns a Source. defs has what devices say of their tools, and k admits calls.
func New(r Registry, c Caller, b *names.Book, defs *tooldef.Cache, k *consent.Keeper) *Source {
	return &Source{registry: r, caller: c, book: b, defs: defs, consent: k, shelf: newShelf()}
}

// offer is a tool of a device that is connected.
type offer struct {
	names.Owner
	on   *host
	name string // under which it is listed
}

// connected returns the user's devices that may be called.
func (s *Source) connected(ctx context.Context, user ids.UserID) ([]*nodev1.Node, error) {
	nodes, err := s.registry.List(ctx, &nodev1.ListNodesRequest{UserId: string(user)})
	if err != nil {
		return nil, err
	}
	there := nodes[:0:0]
	for _, n := range nodes {
		if n.GetIsConnected() && n.GetStatus() != nodev1.NodeStatus_NODE_STATUS_OFFLINE {
			there = append(there, n)
		}
	}
	return there, nil
}

// offers returns all tools of some devices, which must be all that are connected.
func (s *Source) offers(ctx context.Context, user ids.UserID, nodes []*nodev1.Node) []offer {
	var all []offer
	var owners []names.Owner
	for _, n := range nodes {
		on := &host{node: n}
		seen := make(map[string]bool, len(n.GetInfo().GetAvailableTools()))
		for _, tool := range n.GetInfo().GetAvailableTools() {
			if seen[tool] {
				continue
			}
			seen[tool] = true
			owner := names.Owner{Node: ids.NodeID(n.GetInfo().GetNodeId()), Tool: tool}
			owners = append(owners, owner)
			all = append(all, offer{Owner: owner, on: on})
		}
	}
	for i, name := range s.book.Names(ctx, user, owners) {
		all[i].name = name
	}
	return all
}

// Tools implements [catalogue.Source]. The list is all of the user's; whoever narrows it must not change it.
func (s *Source) Tools(ctx context.Context, r *catalogue.Request) ([]catalogue.Tool, error) {
	nodes, err := s.connected(ctx, r.User)
	if err != nil {
		return nil, err
	}
	print := s.shelf.print(nodes)
	if tools := s.shelf.get(r.User, print, s.book.Known(r.User)); tools != nil {
		return tools, nil
	}
	offers := s.offers(ctx, r.User, nodes)
	tools := make([]catalogue.Tool, 1, len(offers)+1)
	tools[0] = s.lister()
	whole := true
	for i := range offers {
		tools = append(tools, s.tool(ctx, r, &offers[i]))
		whole = whole && offers[i].on.whole
	}
	if known, settled := s.book.Settled(r.User, ownersOf(offers)); whole && settled {
		s.shelf.put(r.User, print, known, tools)
	}
	return tools, nil
}

func ownersOf(offers []offer) []names.Owner {
	owners := make([]names.Owner, len(offers))
	for i := range offers {
		owners[i] = offers[i].Owner
	}
	return owners
}

// tool is a device's tool as it is listed. Where what the device said cannot be had just now, it is told of by its name.
func (s *Source) tool(ctx context.Context, r *catalogue.Request, o *offer) catalogue.Tool {
	if !o.on.told {
		given, err := s.defs.Given(ctx, r.User, o.on.node.GetInfo())
		o.on.tell(given)
		o.on.whole = err == nil
	}
	d := o.on.define(o.Tool, o.name)
	t := s.found(o.name, o.Owner)
	t.Definition, t.ReadOnly = d.members, d.readOnly
	return t
}

// Find implements [catalogue.Source]. What is bound is called without a look at the registry, unless the tool's definition has a say
// in whether it may be.
func (s *Source) Find(ctx context.Context, r *catalogue.Request, name string) (t catalogue.Tool, ok bool, err error) {
	if name == listerName {
		return s.lister(), true, nil
	}
	owner, bound := s.book.Owner(r.User, name)
	if bound && !r.ReadOnly {
		return s.found(name, owner), true, nil
	}
	if _, service := s.book.Service(r.User, name); service {
		return t, false, nil
	}
	nodes, err := s.connected(ctx, r.User)
	if err != nil {
		return t, false, err
	}
	offers := s.offers(ctx, r.User, nodes)
	if owner, bound = s.book.Owner(r.User, name); !bound {
		owner, bound = s.book.Ask(ctx, r.User, name)
	}
	_, service := s.book.Service(r.User, name)
	for i := range offers {
		o := &offers[i]
		if bound && o.Owner == owner || !bound && !service && names.Long(o.Node, o.Tool) == name {
			o.name = name
			return s.tool(ctx, r, o), true, nil
		}
	}
	return s.found(name, owner), bound, nil
}

// found is a tool of which only the name is known.
func (s *Source) found(name string, o names.Owner) catalogue.Tool {
	return catalogue.Tool{
		Name: name, Plain: o.Tool, Node: o.Node, Run: s.runner(name, o),
		Timeout: func(arguments []byte) time.Duration { return tooldef.Timeout(o.Tool, arguments) },
	}
}
