package zeus

import (
	"bytes"
	"errors"

	"github.com/hecaton-dev/hecaton/pkg/node/nodetype"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/fanout"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/dialect"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// nodeSession is the session of one node.
type nodeSession struct {
	zeus   *Zeus
	c      *dialect.Client
	kind   *kind
	askers askers
}

// Begin implements [dialect.Session]: a node is one from the start, and may say more of itself later.
func (s *nodeSession) Begin() error { return s.c.Hold(newInfo(s.kind, s.c.Node), s) }

func (s *nodeSession) readRegister(frame []byte) codec.Message {
	said, err := parseRegister(frame, s.kind, s.c.Held().Key().Node)
	if err != nil {
		return codec.Message{Means: codec.Malformed, Reply: notRegistered(err.Error())}
	}
	return codec.Message{Means: codec.Register, Registration: said, Reply: registered(said.Info.GetNodeId())}
}

// readStatus reads a heartbeat, which is acknowledged, or a status message.
func (s *nodeSession) readStatus(frame []byte, heartbeat bool) codec.Message {
	m := codec.Message{Means: codec.Status}
	m.Status, m.Tasks = s.c.Held().Load()
	if heartbeat {
		m.Status, m.Tasks, m.Reply = nodev1.NodeStatus_NODE_STATUS_ONLINE, 0, frameHeartbeatAck
	}
	var err error
	if m.Status, m.Tasks, err = parseStatus(frame, m.Status, m.Tasks); err != nil {
		return codec.Message{Means: codec.Malformed, Reply: errorFrame(err.Error())}
	}
	return m
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

// Take implements [dialect.Session].
func (s *nodeSession) Take(m codec.Message, b *frame.Buffer) (asked bool) {
	if m.Type == taskComplete {
		return s.taskComplete(b)
	}
	defer b.Release()
	switch m.Type {
	case workflowsList:
		s.workflowsList(b)
	case token:
		s.c.Send(renew(s.c, b.Bytes()))
	}
	return false
}

// taskComplete tells every web client of the user, and the caller that waits for the workflow.
func (s *nodeSession) taskComplete(b *frame.Buffer) (asked bool) {
	if err := s.zeus.Fanout.ToAll(fanout.User(s.c.User), workflowComplete(b.Bytes())); err != nil {
		s.zeus.Logger.Warn("web clients on other pods did not hear of a workflow's end", "error", err)
	}
	return s.c.Held().Calls.Complete(jsonrpc.StringMember(b.Bytes(), "workflow_id"), b)
}

// workflowsList goes to the web client that asked first or, where none asked, to all of the user's.
func (s *nodeSession) workflowsList(b *frame.Buffer) {
	list := bytes.Clone(b.Bytes())
	user := fanout.User(s.c.User)
	var err error
	if asker := s.askers.next(); asker != "" {
		err = s.zeus.Fanout.ToOne(user, asker, list)
	} else {
		err = s.zeus.Fanout.ToAll(user, list)
	}
	if err != nil {
		s.zeus.Logger.Warn("a workflow list did not reach its web client", "error", err)
	}
}
