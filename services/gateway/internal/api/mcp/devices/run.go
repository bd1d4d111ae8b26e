package devices

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/names"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
)

// runner calls a device's tool, once its user's settings allow it.
func (s *Source) runner(name string, o names.Owner) func(context.Context, *catalogue.Call) (catalogue.Result, error) {
	return func(ctx context.Context, c *catalogue.Call) (catalogue.Result, error) {
		answer, err := s.call(ctx, c, o)
		if errors.Is(err, errs.NodeNotConnected) && s.consent.Forget(c.User, o.Node, o.Tool) {
			answer, err = s.call(ctx, c, o) // it was not delivered; the device has connected anew, perhaps
		}
		if err != nil {
			return catalogue.Result{}, s.explain(ctx, &c.Request, name, o, err)
		}
		if answer.Error != nil {
			defer answer.Release()
			return refusal(o, answer.Error), nil
		}
		result := shape(answer.Result)
		result.Release = answer.Release
		return result, nil
	}
}

// call makes a call that is admitted, at the connection for which it is.
func (s *Source) call(ctx context.Context, c *catalogue.Call, o names.Owner) (*router.Answer, error) {
	epoch, err := s.consent.Device(ctx, c, o.Node, o.Tool, func(ctx context.Context) (*nodev1.Node, error) { return s.find(ctx, c.User, o.Node) })
	if err != nil {
		return nil, err
	}
	req := router.Request{
		Target: router.Target{User: c.User, Node: o.Node, Within: c.Grant.Nodes}, Epoch: epoch, Tool: o.Tool, Arguments: c.Arguments,
		Deadline: c.Deadline, Traceparent: c.Traceparent,
	}
	return s.caller.Call(ctx, req, c.Progress)
}

// find returns a device that is connected.
func (s *Source) find(ctx context.Context, user ids.UserID, node ids.NodeID) (*nodev1.Node, error) {
	nodes, err := s.connected(ctx, user)
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if n.GetInfo().GetNodeId() == string(node) {
			return n, nil
		}
	}
	return nil, errs.New(errs.NodeNotConnected, "the device %s is not connected", quoted(string(node)))
}

// refusal is the result of a call that the device answered with an error of JSON-RPC. Its code stays behind: it may be one to
// which MCP gives a meaning of its own.
func refusal(o names.Owner, raw []byte) catalogue.Result {
	var e struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(raw, &e) // what cannot be read says nothing
	if e.Message == "" {
		e.Message = "it did not say why"
	}
	text := fmt.Sprintf("The device %s did not run %s: %s", quoted(string(o.Node)), quoted(o.Tool), e.Message)
	b := jsonrpc.AppendString([]byte(`"content":[{"type":"text","text":`), text)
	return catalogue.Result{Members: [][]byte{append(b, `}],"isError":true`...)}}
}

// explain says of a device that is away what there is instead.
func (s *Source) explain(ctx context.Context, r *catalogue.Request, name string, o names.Owner, err error) error {
	var reasoned *errs.Error
	if !errors.As(err, &reasoned) || reasoned.Reason != errs.NodeNotConnected {
		return err
	}
	said := *reasoned
	said.Message = fmt.Sprintf("%s is the tool %s of the device %s, which is not connected now", name, quoted(o.Tool), quoted(string(o.Node)))
	if others := s.others(ctx, r, o); others != "" {
		said.Message += "; " + others
	}
	return &said
}

// others says which devices are there, and under which name they have the same tool.
func (s *Source) others(ctx context.Context, r *catalogue.Request, o names.Owner) string {
	nodes, err := s.connected(ctx, r.User)
	if err != nil {
		return ""
	}
	var there, same []string
	for _, n := range nodes {
		if id := ids.NodeID(n.GetInfo().GetNodeId()); id != o.Node && r.Uses(id) {
			there = append(there, describe(n))
		}
	}
	for _, other := range s.offers(ctx, r.User, nodes) {
		if other.Tool == o.Tool && other.Node != o.Node && r.Uses(other.Node) {
			same = append(same, other.name)
		}
	}
	switch {
	case len(there) == 0:
		return "no other device is connected"
	case len(same) == 0:
		return "connected are " + strings.Join(there, ", ") + ", without such a tool"
	}
	return "connected are " + strings.Join(there, ", ") + "; there the tool is called " + strings.Join(same, " or ")
}
