package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/session"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/tasks"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/wire"
)

const (
	// keepResult is how long a client may come back for an answer after the last moment at which it can come.
	keepResult = 10 * time.Minute
	// maxResult is the largest answer that is kept, in bytes.
	maxResult = 8 << 20
	// lastWord bounds the time in which the end of a task is stored when its pod ends.
	lastWord = 5 * time.Second
)

// cancelKey is what the relay calls the cancellation of a task, and answerKey the answer to its question of that key.
const cancelKey = `"cancel"`

func answerKey(question string) []byte { return jsonrpc.AppendString(nil, "answer "+question) }

// detachable is a call whose client can come back for the answer: it becomes a task where the answer takes long, and goes on without
// its request then. Its goroutines are the request's handler, which begins it and may hand it over, and the one that runs the tool.
type detachable struct {
	// Static after construction.
	api   *API
	q     *query
	p     *params
	tool  *catalogue.Tool
	call  *catalogue.Call
	ended chan ending
	wants chan want // the tool waits for something that its client cannot be asked

	// deadline is that of the call as it came, and ask how it asks before it is a task.
	deadline time.Time
	ask      func(context.Context, catalogue.Question) (catalogue.Answer, error)

	cancel context.CancelFunc // of the tool; the handler's, and the task's after it

	mu   sync.Mutex
	task *agentv1.Task               // nil until it is one
	said map[string]catalogue.Answer // answers to the task's questions
}

// ending is what the tool's Run returned.
type ending struct {
	result catalogue.Result
	err    error
}

// want asks the handler to make the call a task.
type want struct {
	message string
	done    chan error
}

// tasked reports whether the client of a call takes tasks.
func (q *query) tasked() bool { return q.stateless() && q.api.Tasks != nil && q.declaresTasks() }

func (q *query) declaresTasks() bool {
	return jsonrpc.IsObject(wire.Member(wire.Member(q.msg.Meta.Capabilities, "extensions"), wire.ExtensionTasks))
}

// detachable returns the call as one that may become a task.
func (q *query) detachable(p *params, t *catalogue.Tool, c *catalogue.Call) *detachable {
	d := &detachable{
		api: q.api, q: q, p: p, tool: t, call: c, ended: make(chan ending, 1), wants: make(chan want), deadline: c.Deadline, ask: c.Ask,
		said: map[string]catalogue.Answer{},
	}
	progress := c.Progress
	c.Ask, c.Wait = d.answer, d.wait
	c.Progress = func(params []byte) {
		progress(params)
		d.heard(params)
	}
	return d
}

// run runs the call until it ends, or goes on as a task: then it returns true, and the client has its answer.
func (d *detachable) run(ctx context.Context, s *signs) (result catalogue.Result, detached bool, err error) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	d.cancel = cancel
	go d.start(own)
	long := time.NewTimer(d.api.TaskAfter)
	defer long.Stop()
	for {
		select {
		case e := <-d.ended:
			cancel()
			return e.result, false, e.err
		case <-ctx.Done():
			cancel()
			e := <-d.ended
			return e.result, false, e.err
		case <-long.C:
			if d.detach(ctx, s, "", true) == nil {
				return result, true, nil
			} // else it is answered as any call
		case w := <-d.wants:
			err := d.detach(ctx, s, w.message, false)
			if w.done <- err; err == nil {
				return result, true, nil
			}
		}
	}
}

// start runs the tool once.
func (d *detachable) start(ctx context.Context) {
	result, err := d.tool.Run(ctx, d.call)
	d.ended <- ending{result, err}
}

// detach makes the call a task, and answers its request so. sent says whether the tool may have been reached.
func (d *detachable) detach(ctx context.Context, s *signs, message string, sent bool) error {
	ttl := max(time.Until(d.deadline), 0) + keepResult
	id := "task-" + strings.ToLower(rand.Text())
	// Heard before the client knows the task's name: no cancellation is lost.
	cancelled, leave := d.api.Relay.Await(ctx, id, []byte(cancelKey))
	t, err := d.api.Tasks.Begin(ctx, d.q.from.User, &agentv1.Task{
		Id: id, Owner: d.q.owner, NodeId: string(d.tool.Node), Status: tasks.Working, Message: message, Sent: sent, Ttl: durationpb.New(ttl),
	})
	if err != nil {
		leave()
		return err
	}
	d.mu.Lock()
	d.task = t
	d.mu.Unlock()
	s.stop()
	d.q.result(catalogue.Result{Type: "task", Members: [][]byte{appendTask(nil, t)}})
	d.api.Tasks.Run(id, func(ctx context.Context) {
		defer leave()
		d.follow(ctx, cancelled)
	})
	return nil
}

// wait implements [catalogue.Call.Wait].
func (d *detachable) wait(ctx context.Context, message string) error {
	d.mu.Lock()
	t := d.task
	d.mu.Unlock()
	if t != nil {
		return d.store(ctx, &agentv1.Task{Status: tasks.Working, Message: message, Sent: message == ""})
	}
	if message == "" {
		return nil
	}
	w := want{message, make(chan error, 1)}
	select {
	case d.wants <- w:
		return <-w.done
	case <-ctx.Done():
		return ctx.Err()
	}
}

// store stores what has become of the task.
func (d *detachable) store(ctx context.Context, change *agentv1.Task) error {
	change.Id = d.task.GetId()
	kept, err := d.api.Tasks.Change(ctx, d.q.from.User, change)
	if err == nil && !kept && len(change.GetResultJson()) > 0 {
		change.ResultJson = d.object(failure(tooMuch(len(change.GetResultJson()))))
		_, err = d.api.Tasks.Change(ctx, d.q.from.User, change)
	}
	return err
}

func tooMuch(size int) error {
	return &catalogue.Unanswered{Message: "the tool ran and answered, but its answer of " + strconv.Itoa(size) + " bytes is more than can be kept for a task"}
}

// answer implements [catalogue.Call.Ask]: with what the person has said to the task, or to the request.
func (d *detachable) answer(ctx context.Context, question catalogue.Question) (catalogue.Answer, error) {
	d.mu.Lock()
	said, ok := d.said[question.Key]
	d.mu.Unlock()
	if ok {
		return said, nil
	}
	return d.ask(ctx, question)
}

// heard takes the progress of a tool.
func (d *detachable) heard(params []byte) {
	d.mu.Lock()
	t := d.task
	d.mu.Unlock()
	if message := jsonrpc.StringMember(params, "message"); t != nil && message != "" {
		d.api.Tasks.Say(t.GetId(), message)
	}
}

// follow brings a task to its end: of the tool, by its client's wish, with its token, or with the pod.
func (d *detachable) follow(pod context.Context, cancelled <-chan []byte) {
	defer func() { d.cancel() }() // that of the last attempt
	revoked := make(chan struct{})
	defer d.q.revocable(func() { close(revoked) })()
	for {
		select {
		case e := <-d.ended:
			var asked *catalogue.Asked
			if !errors.As(e.err, &asked) {
				d.finish(pod, e, tasks.Completed)
				return
			}
			if over := d.input(pod, asked.Question, cancelled, revoked); over != "" {
				d.finish(pod, ending{err: d.lost()}, over)
				return
			}
		case <-cancelled:
			d.stop(pod)
			return
		case <-revoked:
			d.stop(pod)
			return
		case <-pod.Done():
			d.cancel()
			e := <-d.ended
			if errors.Is(e.err, context.Canceled) || errors.Is(e.err, errs.Cancelled) {
				e.err = d.lost()
			}
			d.finish(pod, e, tasks.Completed)
			return
		}
	}
}

// stop ends the call, which may have been answered meanwhile.
func (d *detachable) stop(pod context.Context) {
	d.cancel()
	e := <-d.ended
	if e.err == nil {
		d.finish(pod, e, tasks.Completed)
		return
	}
	d.finish(pod, e, tasks.Cancelled)
}

// lost is what is known of a call that its pod gave up.
func (d *detachable) lost() error {
	return errs.New(errs.HolderLost, "the gateway that ran the call has ended")
}

// input lets the person answer a question of the task's, and makes the next attempt with the answer. It returns the status of a task
// that is over instead, empty where it goes on.
func (d *detachable) input(pod context.Context, question catalogue.Question, cancelled <-chan []byte, revoked <-chan struct{}) (over string) {
	answers, leave := d.api.Relay.Await(pod, d.task.GetId(), answerKey(question.Key))
	defer leave()
	request := append(appendQuestion([]byte{'{'}, question), '}')
	if err := d.store(pod, &agentv1.Task{Status: tasks.Input, Message: question.Message, Sent: true, InputJson: request}); err != nil {
		return tasks.Completed
	}
	patience := time.NewTimer(session.StateLife)
	defer patience.Stop()
	answer := catalogue.Answer{Action: "cancel"}
	select {
	case response := <-answers:
		answer = readAnswer(response)
	case <-patience.C:
	case <-cancelled:
		return tasks.Cancelled
	case <-revoked:
		return tasks.Cancelled
	case <-pod.Done():
		return tasks.Completed
	}
	d.mu.Lock()
	d.said[question.Key] = answer
	d.mu.Unlock()
	if err := d.store(pod, &agentv1.Task{Status: tasks.Working, Sent: true}); err != nil {
		return tasks.Completed
	}
	d.call.State, d.call.Deadline = question.State, deadline(*d.p, d.tool)
	var own context.Context
	own, d.cancel = context.WithCancel(context.WithoutCancel(pod))
	go d.start(own)
	return ""
}

// finish stores the end of a task.
func (d *detachable) finish(pod context.Context, e ending, status string) {
	if e.result.Release != nil {
		defer e.result.Release()
	}
	ctx := pod
	if pod.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(pod), lastWord)
		defer cancel()
	}
	t := &agentv1.Task{Status: status, Sent: true}
	if status == tasks.Completed {
		r := e.result
		if e.err != nil {
			r = failure(e.err)
		}
		if t.ResultJson = d.object(r); len(t.ResultJson) > maxResult {
			t.ResultJson = d.object(failure(tooMuch(len(t.ResultJson))))
		}
	}
	if err := d.store(ctx, t); err != nil {
		d.api.Logger.Warn("the end of a task is not stored; its client will hear that the outcome is unknown", "task", d.task.GetId(), "error", err)
	}
}

// object is a result as it is kept.
func (d *detachable) object(r catalogue.Result) []byte { return bytes.Join(d.q.object(r), nil) }
