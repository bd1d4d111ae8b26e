package agents

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
)

const runName = "run_agent"

// runTimeout is how long a call waits for a run whose client does not say: most clients give up long before.
const runTimeout = 30 * time.Minute

const runDefinition = `"title":"Run an agent","description":"Gives a task to one of Hecaton's own agents, which works on it with the user's devices, ` +
	`files and services, and returns its last answer. The answer's session_id goes on with the same conversation. ` +
	`Without a prompt the call waits for the session's run that is under way.",` +
	`"inputSchema":{"type":"object","properties":{"prompt":{"type":"string","description":"The task, in words"},` +
	`"session_id":{"type":"string","description":"A conversation to go on with; a new one where it is left out"},` +
	`"mode":{"type":"string","enum":["agent","ask","plan"],"description":"agent acts, ask only reads, plan answers with a plan; agent where it is left out"},` +
	`"node_id":{"type":"string","description":"The device to work with, as devices shows it"}}},` +
	`"outputSchema":{"type":"object","properties":{"session_id":{"type":"string"},"run_id":{"type":"string"},` +
	`"finish_reason":{"type":"string","description":"stop, max_steps, error, cancelled, interrupt (it waits for the person) or running"}},"required":["session_id","finish_reason"]},` +
	`"annotations":{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}`

func (s *Source) runAgent() catalogue.Tool {
	return catalogue.Tool{Name: runName, Definition: []byte(runDefinition), Timeout: func([]byte) time.Duration { return runTimeout }, Run: s.run}
}

// task is what a call asks for.
type task struct {
	Prompt  string `json:"prompt"`
	Session string `json:"session_id"`
	Mode    string `json:"mode"`
	Node    string `json:"node_id"`
}

func readTask(arguments []byte) (t task, problem string) {
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	if err := jsonrpc.Decode(arguments, &t); err != nil {
		return t, err.Error()
	}
	for field, id := range map[string]string{"session_id": t.Session, "node_id": t.Node} {
		if id == "" {
			continue
		}
		if err := ids.Check(field, id); err != nil {
			return t, err.Error()
		}
	}
	if strings.TrimSpace(t.Prompt) == "" && t.Session == "" {
		return t, "prompt is required, the task in words"
	}
	return t, ""
}

// run runs the tool.
func (s *Source) run(ctx context.Context, c *catalogue.Call) (catalogue.Result, error) {
	t, problem := readTask(c.Arguments)
	if problem != "" {
		return wrong(problem), nil
	}
	waiting, stop := context.WithDeadline(ctx, c.Deadline)
	defer stop()
	w := &watch{runs: s.runs, call: c, session: t.Session}
	err := w.begin(waiting, t)
	for err == nil && w.reason == "interrupt" {
		err = w.decide(waiting)
	}
	switch {
	case ctx.Err() != nil: // the client gave the call up
		if w.session != "" && w.began {
			s.runs.Cancel(ctx, c.User, w.session)
		}
		return catalogue.Result{}, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded) && w.session != "":
		w.reason = "running"
	case errors.Is(err, context.DeadlineExceeded):
		return catalogue.Result{}, errs.New(errs.ToolTimeout, "the run did not begin in time")
	case errors.Is(err, catalogue.ErrCannotAsk):
	case err != nil:
		return catalogue.Result{}, err
	}
	return w.result(), nil
}

// watch is one call's look at a run.
type watch struct {
	// Static after construction.
	runs Runs
	call *catalogue.Call

	began        bool   // by this call, which also ends it
	session, run string // empty until they are known
	content      string
	failure      string
	reason       string // finish_reason; empty until it is known
}

// begin starts the run, or finds the one that is meant.
func (w *watch) begin(ctx context.Context, t task) error {
	if session, ok := strings.CutPrefix(w.call.State, statePrefix); ok { // comes back with an answer of the person
		w.session, w.began = session, true
		return w.join(ctx)
	}
	if strings.TrimSpace(t.Prompt) == "" {
		return w.join(ctx)
	}
	w.began = true
	return w.runs.Invoke(ctx, w.call.User, &agentv1.InvokeRequest{
		Message: t.Prompt, SessionId: t.Session, Mode: t.Mode, PreferredNodeId: t.Node, IdempotencyKey: uuid.NewString(),
	}, w.hear)
}

// join waits for the run of a session, or learns how its last one ended.
func (w *watch) join(ctx context.Context) error {
	session, err := w.runs.Session(ctx, w.call.User, w.session)
	if err != nil {
		return err
	}
	after := int64(session.GetLastSeq())
	if session.GetStatus() != "running" {
		after-- // the last event is how it ended
	}
	return w.runs.Follow(ctx, w.call.User, w.session, max(after, 0), w.hear)
}

// hear takes one event.
func (w *watch) hear(e *agentv1.Event) {
	w.session, w.run = e.GetSessionId(), e.GetRunId()
	switch kind := e.GetKind().(type) {
	case *agentv1.Event_ToolCall:
		w.tell(e, "calls "+kind.ToolCall.GetToolName())
	case *agentv1.Event_ToolCallResult:
		w.tell(e, kind.ToolCallResult.GetToolName()+" has answered")
	case *agentv1.Event_Error:
		w.failure = kind.Error.GetMessage()
	case *agentv1.Event_Complete:
		w.content, w.reason = kind.Complete.GetContent(), kind.Complete.GetFinishReason()
	}
}

// tell sends progress: the number of an event rises, whichever orchestrator it comes from.
func (w *watch) tell(e *agentv1.Event, message string) {
	if w.call.Progress == nil {
		return
	}
	w.call.Progress(appendMember([]byte(`{"progress":`), e.GetSeq(), "message", message))
}

// result is the answer to the call.
func (w *watch) result() catalogue.Result {
	text, failed := w.content, "false"
	switch w.reason {
	case "error":
		text, failed = "The run failed: "+w.failure, "true"
	case "cancelled":
		text, failed = "The run was cancelled.", "true"
	case "running":
		text = "The run goes on. Call " + runName + " with this session_id and no prompt to wait for its end."
	case "interrupt":
		text, failed = "The run waits for the user, who has to decide about it in Hecaton's own client, or with POST /api/agent/resume. "+
			"Then call "+runName+" with this session_id and no prompt to wait for its end.", "true"
	case "max_steps":
		text += "\n\nThe run has ended since it took as many steps as it may. Call " + runName + " with this session_id to let it go on."
	}
	b := jsonrpc.AppendString([]byte(`"content":[{"type":"text","text":`), text)
	b = jsonrpc.AppendString(append(b, `}],"structuredContent":{"session_id":`...), w.session)
	if w.run != "" {
		b = jsonrpc.AppendString(append(b, `,"run_id":`...), w.run)
	}
	b = jsonrpc.AppendString(append(b, `,"finish_reason":`...), w.reason)
	return catalogue.Result{Members: [][]byte{append(append(b, `},"isError":`...), failed...)}}
}
