package mcp

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/tasks"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
)

// pollEvery is how often a client should ask about a task.
const pollEvery = time.Second

// tasksCapability is what a client has to declare.
const tasksCapability = `{"extensions":{"` + wire.ExtensionTasks + `":{}}}`

// taskMethods are those of the tasks extension.
func (a *API) taskMethods() map[string]method {
	if a.Tasks == nil {
		return nil
	}
	return map[string]method{
		"tasks/get":    {stateless, auth.CallTools, a.getTask},
		"tasks/update": {stateless, auth.CallTools, a.updateTask},
		"tasks/cancel": {stateless, auth.CallTools, a.cancelTask},
	}
}

var errNoTask = errors.New("Task not found: there is none of this taskId, or it has expired") //nolint:staticcheck // for clients

// task returns the task of a request; nil where it is answered with an error.
func (a *API) task(ctx context.Context, q *query) *agentv1.Task {
	if !q.declaresTasks() {
		q.fail(wire.MissingCapability(tasksCapability))
		return nil
	}
	t, err := a.findTask(ctx, q, jsonrpc.StringMember(q.msg.Params, "taskId"))
	switch {
	case errors.Is(err, errNoTask):
		q.fail(wire.Invalid(err.Error()))
	case err != nil:
		q.fail(internal(err))
	}
	return t
}

// findTask returns a task that the client may know: one that the same token began, on a device that this may reach.
func (a *API) findTask(ctx context.Context, q *query, id string) (*agentv1.Task, error) {
	if ids.Check("taskId", id) != nil {
		return nil, errNoTask
	}
	t, err := a.Tasks.Get(ctx, q.from.User, id)
	if err != nil {
		return nil, err
	}
	if t == nil || t.GetOwner() != q.owner || t.GetNodeId() != "" && !q.from.Grant.Nodes.Has(ids.NodeID(t.GetNodeId())) {
		return nil, errNoTask
	}
	return t, nil
}

// getTask answers tasks/get.
func (a *API) getTask(ctx context.Context, q *query) {
	if t := a.task(ctx, q); t != nil {
		q.result(catalogue.Result{Members: [][]byte{q.appendDetailed(nil, t)}})
	}
}

// updateTask answers tasks/update: answers to questions that are open go to the pod that has the task, wherever it is.
func (a *API) updateTask(ctx context.Context, q *query) {
	t := a.task(ctx, q)
	if t == nil {
		return
	}
	responses := wire.Member(q.msg.Params, "inputResponses")
	if !jsonrpc.IsObject(responses) {
		q.fail(wire.Invalid("Invalid params: inputResponses must be an object"))
		return
	}
	jsonrpc.Members(responses, func(key, response []byte) {
		if jsonrpc.IsObject(response) && wire.Member(t.GetInputJson(), string(key)) != nil {
			a.Relay.Answered(t.GetId(), answerKey(string(key)), response)
		}
	})
	q.result(catalogue.Result{})
}

// cancelTask answers tasks/cancel.
func (a *API) cancelTask(ctx context.Context, q *query) {
	if t := a.task(ctx, q); t != nil {
		if t.GetStatus() == tasks.Working || t.GetStatus() == tasks.Input {
			a.Relay.Answered(t.GetId(), []byte(cancelKey), []byte("{}"))
		}
		q.result(catalogue.Result{})
	}
}

// appendTask appends the members of a task, but for what belongs to its status.
func appendTask(b []byte, t *agentv1.Task) []byte {
	status := t.GetStatus()
	if status == tasks.Lost { // the call has a result: that it was lost
		status = tasks.Completed
	}
	b = jsonrpc.AppendString(append(b, `"taskId":`...), t.GetId())
	b = jsonrpc.AppendString(append(b, `,"status":`...), status)
	if t.GetMessage() != "" {
		b = jsonrpc.AppendString(append(b, `,"statusMessage":`...), t.GetMessage())
	}
	b = jsonrpc.AppendString(append(b, `,"createdAt":`...), t.GetCreatedAt().AsTime().Format(time.RFC3339Nano))
	b = jsonrpc.AppendString(append(b, `,"lastUpdatedAt":`...), t.GetUpdatedAt().AsTime().Format(time.RFC3339Nano))
	b = strconv.AppendInt(append(b, `,"ttlMs":`...), t.GetTtl().AsDuration().Milliseconds(), 10)
	return strconv.AppendInt(append(b, `,"pollIntervalMs":`...), pollEvery.Milliseconds(), 10)
}

// appendDetailed appends all members of a task.
func (q *query) appendDetailed(b []byte, t *agentv1.Task) []byte {
	b = appendTask(b, t)
	switch t.GetStatus() {
	case tasks.Input:
		b = append(append(b, `,"inputRequests":`...), t.GetInputJson()...)
	case tasks.Completed:
		b = append(append(b, `,"result":`...), t.GetResultJson()...)
	case tasks.Lost:
		outcome := errs.NotDelivered
		if t.GetSent() {
			outcome = errs.Unknown
		}
		b = append(b, `,"result":`...)
		for _, piece := range q.object(failure(&catalogue.Unanswered{
			Message: "the gateway that ran the call was lost", Outcome: outcome, Reason: string(errs.HolderLost),
		})) {
			b = append(b, piece...)
		}
	}
	return b
}
