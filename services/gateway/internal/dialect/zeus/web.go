package zeus

import (
	"bytes"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/workflow"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/limits"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// web serves the sockets of web clients.
func (z *Zeus) web(w http.ResponseWriter, r *http.Request) {
	user, problem := webParams(r)
	if c, s := z.accept(w, r, webClient, user, problem); c != nil {
		z.serve(c, webClient, s, func() conn.Handler { return z.beginWeb(c, user, s.account) })
	}
}

// webClient is the kind of client that is no node.
const webClient = "web"

func (z *Zeus) beginWeb(c *conn.Conn, user ids.UserID, account *limits.Account) conn.Handler {
	client := &hub.Web{User: user, Name: uuid.NewString(), Conn: c}
	client.Ping.Frame = framePing
	if err := z.Fanout.Join(z.ctx, client); err != nil {
		z.Logger.Warn("web client refused", "error", err)
		c.Close(conn.Overloaded)
		return drop
	}
	c.OnEnd(func() { z.Fanout.Leave(client) })
	return (&webSession{Zeus: z, client: client, account: account}).handle
}

// webSession handles the frames of one web client. Its methods run on the connection's reader.
type webSession struct {
	*Zeus
	client  *hub.Web
	account *limits.Account
}

func (s *webSession) send(data []byte) {
	_ = s.client.Conn.Send(data, nil) // a connection that is closing needs no answer
}

func (s *webSession) handle(b *frame.Buffer) bool {
	defer b.Release()
	s.account.PayAndWait(s.ctx, len(b.Bytes()))
	f, err := jsonrpc.Skim(b.Bytes())
	if err != nil {
		s.Metrics.Frames.WithLabelValues("malformed").Inc()
		s.send(malformed(err))
		return false
	}
	switch string(jsonrpc.Text(f.Type)) {
	case "ping":
		s.send(framePong)
	case "pong":
	case "token":
		s.send(s.renew(s.client.Conn, s.client.User, b.Bytes()))
	case "get_workflows":
		s.getWorkflows(bytes.Clone(b.Bytes()))
	case "execute_workflow":
		s.executeWorkflow(bytes.Clone(b.Bytes()))
	default:
		s.Metrics.Frames.WithLabelValues("unknown").Inc()
	}
	return false
}

// extension picks the user's first connected extension.
func (s *webSession) extension() (ids.Node, error) {
	id, err := s.Router.Choose(s.ctx, router.Target{User: s.client.User, Type: nodev1.NodeType_NODE_TYPE_EXTENSION})
	return ids.Node{User: s.client.User, Node: id}, err
}

func (s *webSession) getWorkflows(request []byte) {
	var key ids.Node
	err := s.account.Ask()
	if err == nil {
		key, err = s.extension()
	}
	if err == nil {
		err = s.Router.Send(s.ctx, key, request, s.client.Name)
	}
	switch {
	case err == nil:
	case errors.Is(err, errs.NodeNotConnected):
		s.send(frameNoExtensionList)
	default:
		s.send(workflowsListFailed(describe(err)))
	}
}

func (s *webSession) executeWorkflow(request []byte) {
	workflowID, err := parseExecute(request)
	if err != nil {
		s.Metrics.Frames.WithLabelValues("malformed").Inc()
		s.send(errorFrame(err.Error()))
		return
	}
	var key ids.Node
	if err = s.account.Ask(); err == nil {
		key, err = s.extension()
	}
	if err != nil {
		s.send(workflow.Failed(describe(err)))
		return
	}
	// A fast extension's task_complete must not overtake workflow_started, which comes from its pod by another way.
	release := s.client.Hold()
	started := sync.OnceFunc(func() {
		s.send(workflowStarted(workflowID))
		release()
	})
	s.Workflows.Start(key, request, time.Now().Add(workflow.DefaultTimeout), workflow.Run{
		Started: started,
		Done: func(completion *frame.Buffer, err *errs.Error) {
			switch {
			case err == nil: // announced by the pod that holds the extension
				completion.Release()
				started()
			case err.Class() == errs.NotDelivered:
				s.send(workflow.Failed(workflow.Message(err)))
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
