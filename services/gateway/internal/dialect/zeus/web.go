package zeus

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/fanout"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/dialect"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/dialect/zeus/workflow"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// webSession is the session of one web client.
type webSession struct {
	zeus *Zeus
	c    *dialect.Client
}

// Begin implements [dialect.Session].
func (s *webSession) Begin() error { return s.c.Follow(fanout.User(s.c.User)) }

// Ping implements [codec.Reader].
func (s *webSession) Ping(time.Time) []byte { return framePing }

// Read implements [codec.Reader].
func (s *webSession) Read(b *frame.Buffer) codec.Message {
	f, err := jsonrpc.Skim(b.Bytes())
	if err != nil {
		return codec.Message{Means: codec.Malformed, Reply: malformed(err)}
	}
	switch string(jsonrpc.Text(f.Type)) {
	case "ping":
		return codec.Message{Means: codec.Alive, Reply: framePong}
	case "pong":
		return codec.Message{Means: codec.Alive}
	case token:
		return codec.Message{Means: codec.Other, Type: token}
	case getWorkflows:
		return codec.Message{Means: codec.Other, Type: getWorkflows}
	case executeWorkflow:
		return s.readExecute(b.Bytes())
	}
	return codec.Message{Means: codec.Unknown}
}

func (s *webSession) readExecute(frame []byte) codec.Message {
	workflowID, err := parseExecute(frame)
	if err != nil {
		return codec.Message{Means: codec.Malformed, Reply: errorFrame(err.Error())}
	}
	return codec.Message{Means: codec.Other, Type: executeWorkflow, Name: workflowID}
}

// Take implements [dialect.Session].
func (s *webSession) Take(m codec.Message, b *frame.Buffer) (asked bool) {
	defer b.Release()
	switch m.Type {
	case token:
		s.c.Send(renew(s.c, b.Bytes()))
	case getWorkflows:
		s.getWorkflows(bytes.Clone(b.Bytes()))
	case executeWorkflow:
		s.executeWorkflow(m.Name, bytes.Clone(b.Bytes()))
	}
	return false
}

// extension picks the user's first connected extension.
func (s *webSession) extension() (ids.Node, error) {
	if err := s.c.Pay(); err != nil {
		return ids.Node{}, err
	}
	id, err := s.zeus.Router.Choose(s.c.Context(), router.Target{User: s.c.User, Type: nodev1.NodeType_NODE_TYPE_EXTENSION})
	return ids.Node{User: s.c.User, Node: id}, err
}

func (s *webSession) getWorkflows(request []byte) {
	key, err := s.extension()
	if err == nil {
		err = s.zeus.Router.Send(s.c.Context(), key, request, s.c.Name())
	}
	switch {
	case err == nil:
	case errors.Is(err, errs.NodeNotConnected):
		s.c.Send(frameNoExtensionList)
	default:
		s.c.Send(workflowsListFailed(describe(err)))
	}
}

func (s *webSession) executeWorkflow(workflowID string, request []byte) {
	key, err := s.extension()
	if err != nil {
		s.c.Send(workflow.Failed(describe(err)))
		return
	}
	// A fast extension's task_complete must not overtake workflow_started, which comes from its pod by another way.
	release := s.c.Wait()
	started := sync.OnceFunc(func() {
		s.c.Send(workflowStarted(workflowID))
		release()
	})
	s.zeus.workflows.Start(key, request, time.Now().Add(workflow.DefaultTimeout), workflow.Run{
		Started: started,
		Done: func(completion *frame.Buffer, err *errs.Error) {
			switch {
			case err == nil: // announced by the pod that holds the extension
				completion.Release()
				started()
			case err.Class() == errs.NotDelivered:
				s.c.Send(workflow.Failed(workflow.Message(err)))
			}
			release()
		},
	})
}

// parseExecute reads the id of the workflow in an execute_workflow message. The error is for the client.
func parseExecute(frame []byte) (workflowID string, err error) {
	var m struct {
		WorkflowID string         `json:"workflow_id"`
		Variables  jsonrpc.Object `json:"variables"`
	}
	if err := jsonrpc.Decode(frame, &m); err != nil {
		return "", err
	}
	if m.WorkflowID == "" {
		return "", errors.New("workflow_id is required")
	}
	return m.WorkflowID, nil
}

// describe is what a web client reads of an error.
func describe(err error) string {
	var e *errs.Error
	if errors.As(err, &e) {
		return workflow.Message(e)
	}
	return "The extension cannot be reached right now"
}
