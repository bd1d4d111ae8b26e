package connector

import (
	"bytes"
	"context"
	"fmt"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// nodeTool is one tool of the session's node.
type nodeTool struct {
	*kit
	spec tool.Spec
}

var _ tool.Placed = (*nodeTool)(nil)

// Spec implements [tool.Tool].
func (t *nodeTool) Spec() tool.Spec { return t.spec }

// Place implements [tool.Placed].
func (t *nodeTool) Place(ctx context.Context) (tool.Place, error) {
	n, err := t.locate(ctx, registered)
	switch {
	case err != nil:
		return tool.Place{}, err
	case !n.GetIsConnected():
		t.stale.Store(true)
		return tool.Place{}, away(n)
	}
	return tool.Place{Node: n.GetInfo().GetNodeId(), Mark: mark(n)}, nil
}

// Call implements [tool.Tool]. Where in.Node is empty it goes wherever the session leads.
func (t *nodeTool) Call(ctx context.Context, in tool.Invocation) (tool.Result, error) {
	if err := tool.CheckArguments(t.spec, in.Args); err != nil {
		return tool.Result{}, err
	}
	node, err := t.confirm(ctx, in)
	if err != nil {
		return tool.Result{}, err
	}
	answer, err := t.gateways.Call(ctx, &toolv1.Call{
		UserId: string(t.scope.User), SessionId: string(t.scope.Session), NodeId: node, ToolName: t.spec.Name,
		ArgumentsJson: bytes.TrimSpace(in.Args), Timeout: durationpb.New(callTimeout(t.spec.Name, in.Args)),
	})
	if err != nil {
		failure := failed(err)
		switch errs.Reason(failure.Reason) {
		case errs.ToolNotOffered, errs.NodeNotConnected, errs.NodeDisconnected:
			t.stale.Store(true)
		}
		return tool.Result{}, failure
	}
	result := read(answer)
	result.Node = answer.GetNodeId()
	return result, nil
}

// confirm returns the node to call: the one that was decided on, as long as the session still leads to it and it is the
// same device.
func (t *nodeTool) confirm(ctx context.Context, in tool.Invocation) (string, error) {
	same := func(n *nodev1.Node) bool {
		return in.Node == "" || n.GetInfo().GetNodeId() != in.Node || in.NodeMark == "" || mark(n) == in.NodeMark
	}
	n, err := t.locate(ctx, same)
	if err != nil {
		return "", err
	}
	id := n.GetInfo().GetNodeId()
	switch {
	case in.Node != "" && id != in.Node:
		return "", unsent("", fmt.Sprintf("this conversation is bound to another node now: the call was meant for %q, and %s was not called", in.Node, describe(n)))
	case !n.GetIsConnected():
		t.stale.Store(true)
		return "", away(n)
	case !same(n):
		return "", unsent("", fmt.Sprintf("another device answers to the id %q now; it was not called", in.Node))
	}
	return id, nil
}
