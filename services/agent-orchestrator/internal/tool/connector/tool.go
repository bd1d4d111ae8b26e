package connector

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/sleep"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// nodeTool is one tool of the session's node.
type nodeTool struct {
	*runTools
	spec tool.Spec
}

var (
	_ tool.Recalling = (*nodeTool)(nil)
	_ tool.Prepared  = (*nodeTool)(nil)
)

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
	t.memory.note(n)
	return placeOf(n), nil
}

// Call implements [tool.Tool]. If in.Node is empty, it goes to the session's node. It names the connection at which the node
// was checked, so that the call cannot reach another device than the one checked; if that connection is gone, Call looks for
// the node again.
func (t *nodeTool) Call(ctx context.Context, in tool.Invocation) (tool.Result, error) {
	return t.Prepare(ctx, in)(ctx)
}

// Prepare implements [tool.Prepared]: it checks the node.
func (t *nodeTool) Prepare(ctx context.Context, in tool.Invocation) func(context.Context) (tool.Result, error) {
	if err := tool.CheckArguments(t.spec, in.Args); err != nil {
		return func(context.Context) (tool.Result, error) { return tool.Result{}, err }
	}
	n, err := t.confirm(ctx, in)
	return func(ctx context.Context) (tool.Result, error) { return t.callAt(ctx, in, n, err) }
}

// callAt calls the node that confirm has returned, or the error with which it found none.
func (t *nodeTool) callAt(ctx context.Context, in tool.Invocation, n *nodev1.Node, err error) (tool.Result, error) {
	call := &toolv1.Call{
		UserId: string(t.scope.User), SessionId: string(t.scope.Session), ToolName: t.spec.Name,
		ArgumentsJson: bytes.TrimSpace(in.Args), Timeout: durationpb.New(tooldef.Timeout(t.spec.Name, in.Args)),
	}
	began := time.Now()
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		if err != nil {
			return tool.Result{}, err
		}
		call.NodeId, call.Epoch = n.GetInfo().GetNodeId(), n.GetEpoch()
		answer, refused := t.gateways.Call(ctx, call)
		if refused == nil {
			result := read(answer)
			result.Node = answer.GetNodeId()
			return result, nil
		}
		failure := failed(refused)
		switch reason := errs.Reason(failure.Reason); reason {
		case errs.ToolNotOffered, errs.NodeNotConnected, errs.NodeDisconnected:
			t.stale.Store(true)
			if reason == errs.NodeNotConnected && time.Since(began) < t.patience.returning && sleep.For(ctx, pause) {
				n, err = t.confirm(ctx, in)
				continue
			}
		}
		return tool.Result{}, failure
	}
}

// confirm returns the node to call: the one that was decided on, as long as the session still uses it, it is the same
// device, and, if a person decided, the same connection. If only the connection is another, or the node was only recalled,
// the error is a *tool.Moved.
func (t *nodeTool) confirm(ctx context.Context, in tool.Invocation) (*nodev1.Node, error) {
	n, elsewhere, err := t.check(ctx, in)
	recalled := t.memory.looked(in.CallID)
	switch {
	case err == nil:
		t.memory.note(n)
	case recalled && elsewhere:
		return nil, t.memory.moved(err)
	}
	return n, err
}

// check is confirm, whatever was recalled. elsewhere says that the call would run somewhere else.
func (t *nodeTool) check(ctx context.Context, in tool.Invocation) (n *nodev1.Node, elsewhere bool, err error) {
	same := func(n *nodev1.Node) bool {
		return in.Node == "" || n.GetInfo().GetNodeId() != in.Node || in.NodeMark == "" || sameDevice(n, in.NodeMark)
	}
	n, err = t.locate(ctx, same)
	if err != nil {
		var choice *tool.Selection
		return nil, errors.As(err, &choice), err
	}
	switch {
	case in.Node != "" && n.GetInfo().GetNodeId() != in.Node:
		return nil, true, unsent("", fmt.Sprintf("this conversation is bound to another node now: the call was meant for %q, and %s was not called", in.Node, describe(n)))
	case !n.GetIsConnected():
		t.stale.Store(true)
		return nil, false, away(n)
	case !same(n):
		return nil, true, unsent("", fmt.Sprintf("another device answers to the id %q now; it was not called", in.Node))
	case in.Approved && in.Node != "" && in.NodeMark != mark(n):
		return nil, false, &tool.Moved{Failure: *unsent(errs.NodeNotConnected,
			fmt.Sprintf("%s has connected again since this call was approved, and may be another device that claims to be the same", describe(n)))}
	}
	return n, false, nil
}
