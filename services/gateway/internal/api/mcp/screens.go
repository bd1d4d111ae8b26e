package mcp

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wishes"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/pictures"
)

// The last screenshot of each device is a resource. It lives with the device's connection (package pictures).

// Nodes lists the devices of a user.
type Nodes interface {
	List(ctx context.Context, req *nodev1.ListNodesRequest) ([]*nodev1.Node, error)
}

const (
	deviceURI  = "hecaton://devices/"
	screenPath = "/screenshot"
)

// screenURI is that of a device's last screenshot.
func screenURI(node ids.NodeID) string { return deviceURI + url.PathEscape(string(node)) + screenPath }

// screenOf reverses screenURI; ok is false for the URI of something else.
func screenOf(uri string) (node ids.NodeID, ok bool) {
	rest, ok := strings.CutPrefix(uri, deviceURI)
	if !ok {
		return "", false
	}
	name, ok := strings.CutSuffix(rest, screenPath)
	id, err := url.PathUnescape(name)
	if !ok || err != nil || ids.Check("node", id) != nil || screenURI(ids.NodeID(id)) != uri { // one URI for one device
		return "", false
	}
	return ids.NodeID(id), true
}

// screens appends the screenshots of the devices that are connected, whether or not there is one yet, with a comma behind each.
func (q *query) screens(ctx context.Context, b []byte) ([]byte, error) {
	nodes, err := q.api.Nodes.List(ctx, &nodev1.ListNodesRequest{UserId: string(q.from.User)})
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		id := ids.NodeID(n.GetInfo().GetNodeId())
		if !n.GetIsConnected() || n.GetStatus() == nodev1.NodeStatus_NODE_STATUS_OFFLINE || !q.from.Uses(id) {
			continue
		}
		b = jsonrpc.AppendString(append(b, `{"uri":`...), screenURI(id))
		b = jsonrpc.AppendString(append(b, `,"name":`...), "screenshot of "+string(id))
		b = jsonrpc.AppendString(append(b, `,"title":`...), "Last screenshot of "+string(id))
		b = jsonrpc.AppendString(append(b, `,"description":`...), "The last picture that a tool of the device answered with: "+tooldef.Describe(n.GetInfo()))
		b = append(b, `},`...)
	}
	return b, nil
}

// readScreen answers resources/read for a device's last screenshot.
func (a *API) readScreen(ctx context.Context, q *query, uri string, node ids.NodeID) {
	if !q.from.Uses(node) {
		q.fail(noResource(uri, "there is no such device"))
		return
	}
	p, err := a.Pictures.Get(ctx, ids.Node{User: q.from.User, Node: node})
	switch {
	case errors.Is(err, pictures.ErrAway):
		q.fail(noResource(uri, "the device "+tooldef.Quote(string(node), 128)+" is not connected now, and its last screenshot went with its connection"))
		return
	case errors.Is(err, pictures.ErrNone):
		q.fail(noResource(uri, "no tool of the device "+tooldef.Quote(string(node), 128)+" has answered with a picture since it connected, or in the last hour"))
		return
	case err != nil:
		q.fail(internal(err))
		return
	}
	head := jsonrpc.AppendString([]byte(`"contents":[{"uri":`), uri)
	head = jsonrpc.AppendString(append(head, `,"mimeType":`...), p.Type)
	head = jsonrpc.AppendString(append(head, `,"_meta":{"dev.hecaton/taken-at":`...), p.At.UTC().Format(time.RFC3339Nano))
	q.result(catalogue.Result{Members: [][]byte{append(head, `},"blob":"`...), p.Data, q.hints([]byte(`"}]`))}})
}

// subscribable returns the device whose screenshots a client may follow under a URI.
func (a *API) subscribable(from *catalogue.Request, uri string) (ids.NodeID, bool) {
	node, ok := screenOf(uri)
	return node, ok && from.Uses(node)
}

// subscribe answers resources/subscribe and resources/unsubscribe.
func (a *API) subscribe(on bool) func(context.Context, *query) {
	return func(ctx context.Context, q *query) {
		uri := jsonrpc.StringMember(q.msg.Params, "uri")
		if _, ok := a.subscribable(&q.from, uri); !ok {
			q.fail(noResource(uri, "only screenshots of devices tell of changes, "+deviceURI+"<device>"+screenPath))
			return
		}
		if !a.Wishes.Set(ctx, q.session.Name, uri, on) {
			q.fail(wire.Invalid("The session has subscribed to as many resources as one may"))
			return
		}
		q.result(catalogue.Result{})
	}
}

// screensWanted are the resources of a listen request that a client is told of, as they stand there.
func (a *API) screensWanted(from *catalogue.Request, list []byte) (uris []string) {
	if len(list) == 0 || list[0] != '[' {
		return nil
	}
	jsonrpc.Elements(list, func(element []byte) {
		uri := string(jsonrpc.Text(element))
		if _, ok := a.subscribable(from, uri); ok && len(uris) < wishes.MaxURIs {
			uris = append(uris, uri)
		}
	})
	return uris
}
