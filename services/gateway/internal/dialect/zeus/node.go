package zeus

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/node/nodetype"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/holder"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/limits"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// node serves the sockets of extensions or desktops.
func (z *Zeus) node(k *kind) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		user, node, problem := nodeParams(r, k)
		if c, s := z.accept(w, r, k.name, user, problem); c != nil {
			z.serve(c, k.name, s, func() conn.Handler { return z.beginNode(c, k, user, node, s.account) })
		}
	}
}

func (z *Zeus) beginNode(c *conn.Conn, k *kind, user ids.UserID, node ids.NodeID, account *limits.Account) conn.Handler {
	n := hub.NewNode(user, newInfo(k, node), c)
	n.Ping.Frame = framePing
	s := &nodeSession{Zeus: z, n: n, kind: k, account: account}
	if err := z.Holder.Attach(z.ctx, n); err != nil {
		s.refused(err)
		return drop
	}
	c.OnEnd(s.end)
	return s.handle
}

// drop is the handler of connections that may not stay.
func drop(b *frame.Buffer) bool {
	b.Release()
	return false
}

// nodeSession handles the frames of one node. Its methods run on the connection's reader.
type nodeSession struct {
	*Zeus
	n       *hub.Node
	kind    *kind
	account *limits.Account
}

// end runs when the connection begins to end.
func (s *nodeSession) end() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), detachTimeout)
	defer cancel()
	s.Holder.Detach(ctx, s.n)
	s.askers.forget(s.n)
}

func (s *nodeSession) refused(err error) {
	reason := conn.GoingAway
	var r *holder.RefusedError
	if errors.As(err, &r) {
		reason = r.Reason
	}
	s.Logger.Info("node refused", "reason", reason.String(), "problem", err)
	s.n.Conn.Close(reason)
}

func (s *nodeSession) send(data []byte) {
	_ = s.n.Conn.Send(data, nil) // a connection that is closing needs no answer
}

// handle takes one frame, and reports whether somebody waited for it.
func (s *nodeSession) handle(b *frame.Buffer) (asked bool) {
	s.account.PayAndWait(s.ctx, len(b.Bytes()))
	f, err := jsonrpc.Skim(b.Bytes())
	switch {
	case err != nil:
		s.Metrics.Frames.WithLabelValues("malformed").Inc()
		s.send(malformed(err))
	case f.JSONRPC != nil || f.Type == nil:
		return s.rpc(f, b)
	default:
		return s.message(f, b)
	}
	b.Release()
	return false
}

// rpc takes a JSON-RPC frame: an answer, nearly always.
func (s *nodeSession) rpc(f jsonrpc.Frame, b *frame.Buffer) (asked bool) {
	if f.Method == nil && f.ID != nil {
		return s.answer(f.ID, b)
	}
	defer b.Release()
	switch method := string(jsonrpc.Text(f.Method)); {
	case method == "notifications/progress":
		token := jsonrpc.StringMember(f.Params, "progressToken")
		return s.n.Calls.Progress(ids.CallID(token), f.Params)
	case method != "" && f.ID != nil:
		s.send(jsonrpc.ErrorFrame(f.ID, jsonrpc.CodeMethodNotFound, "Method not found: nodes answer calls, they make none"))
	}
	s.Metrics.Frames.WithLabelValues("unknown").Inc()
	return false
}

// answer hands an answer to the call of that id, and reports whether somebody waited for it.
func (s *nodeSession) answer(id []byte, b *frame.Buffer) (asked bool) {
	if asked = s.n.Calls.Answer(ids.CallID(jsonrpc.Text(id)), b); !asked {
		s.Metrics.LateAnswers.Inc()
	}
	return asked
}

// message takes a frame that is no JSON-RPC.
func (s *nodeSession) message(f jsonrpc.Frame, b *frame.Buffer) (asked bool) {
	switch string(jsonrpc.Text(f.Type)) {
	case "mcp_response":
		asked = s.answer(f.RequestID, frame.Wrap(legacyAnswer(f)))
	case "task_complete":
		return s.taskComplete(b)
	case "workflows_list":
		s.workflowsList(b)
	case "heartbeat":
		if s.status(b, true) {
			s.send(frameHeartbeatAck)
		}
	case "status":
		s.status(b, false)
	case "ping":
		s.send(framePong)
	case "pong":
	case "register":
		s.register(b)
	case "token":
		s.send(s.renew(s.n.Conn, s.n.User, b.Bytes()))
	default:
		s.Metrics.Frames.WithLabelValues("unknown").Inc()
	}
	b.Release()
	return asked
}

func (s *nodeSession) register(b *frame.Buffer) {
	info, err := parseRegister(b.Bytes(), s.kind, s.n.Key().Node)
	if err != nil {
		s.Metrics.Frames.WithLabelValues("malformed").Inc()
		s.send(notRegistered(err.Error()))
		return
	}
	if err := s.Holder.Update(s.ctx, s.n, info); err != nil {
		s.refused(err)
		return
	}
	s.send(registered(info.GetNodeId()))
}

// status takes a heartbeat or status message and reports whether it was one.
func (s *nodeSession) status(b *frame.Buffer, heartbeat bool) bool {
	status, tasks := s.n.Load()
	if heartbeat {
		status, tasks = nodev1.NodeStatus_NODE_STATUS_ONLINE, 0
	}
	status, tasks, err := parseStatus(b.Bytes(), status, tasks)
	if err != nil {
		s.Metrics.Frames.WithLabelValues("malformed").Inc()
		s.send(errorFrame(err.Error()))
		return false
	}
	s.n.SetLoad(status, tasks)
	return true
}

// parseStatus reads a heartbeat or status message; status and tasks are what it means where it does not say: online and
// idle in a heartbeat (docs/protocols/zeus-nodes.md#heartbeat), as before in a status message. The error is for the client.
func parseStatus(frame []byte, status nodev1.NodeStatus, tasks int32) (nodev1.NodeStatus, int32, error) {
	m := struct {
		Status       string `json:"status"`
		CurrentTasks int32  `json:"current_tasks"`
	}{CurrentTasks: tasks}
	if err := jsonrpc.Decode(frame, &m); err != nil {
		return status, tasks, err
	}
	if m.Status != "" {
		parsed, known := nodetype.ParseStatus(m.Status)
		if !known {
			return status, tasks, errors.New(`status must be "online", "busy" or "offline"`)
		}
		status = parsed
	}
	if m.CurrentTasks < 0 {
		return status, tasks, errors.New("current_tasks must not be negative")
	}
	return status, m.CurrentTasks, nil
}

// taskComplete tells every web client of the user, and whoever waits for the workflow.
func (s *nodeSession) taskComplete(b *frame.Buffer) (asked bool) {
	if err := s.Fanout.ToUser(s.n.User, workflowComplete(b.Bytes())); err != nil {
		s.Logger.Warn("web clients on other pods did not hear of a workflow's end", "error", err)
	}
	return s.n.Calls.Complete(jsonrpc.StringMember(b.Bytes(), "workflow_id"), b)
}

// workflowsList goes to the web client that asked first, or, unasked, to all of the user's.
func (s *nodeSession) workflowsList(b *frame.Buffer) {
	list := bytes.Clone(b.Bytes())
	var err error
	if asker := s.askers.next(s.n); asker != "" {
		err = s.Fanout.ToClient(s.n.User, asker, list)
	} else {
		err = s.Fanout.ToUser(s.n.User, list)
	}
	if err != nil {
		s.Logger.Warn("a workflow list did not reach its web client", "error", err)
	}
}
