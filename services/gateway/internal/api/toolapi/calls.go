package toolapi

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/pod/limits"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// maxOpen bounds the calls open on one stream; at the bound the stream is not read, and the caller's own flow control
// holds the next ones back.
const maxOpen = 4096

// Calls implements ToolService.
func (s *Service) Calls(stream grpc.BidiStreamingServer[toolv1.CallsRequest, toolv1.CallsResponse]) error {
	if err := s.admit(); err != nil {
		return err
	}
	// Headers at once tell the caller that the stream was accepted.
	if err := stream.SendHeader(nil); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(stream.Context())
	c := &callStream{
		Service: s, ctx: ctx, open: make(map[uint64]*openCall), places: make(chan struct{}, maxOpen), wake: make(chan struct{}, 1),
	}
	var sender sync.WaitGroup
	sender.Go(func() { c.send(stream) })
	err := c.converse(stream)
	cancel()
	c.cancelAll()
	c.choosing.Wait()
	sender.Wait()
	c.discard()
	return err
}

// callStream is one stream of many calls.
type callStream struct {
	*Service
	ctx      context.Context
	choosing sync.WaitGroup // calls that name no node, until their first try has ended
	places   chan struct{}

	mu     sync.Mutex
	open   map[uint64]*openCall
	outbox []any         // *answerMessage or *toolv1.CallsResponse
	idle   chan struct{} // closed once nothing is open and everything was sent; nil while nobody waits for that
	closed bool          // nobody sends any more
	wake   chan struct{} // capacity 1
}

// openCall is the sink of one call of a stream.
type openCall struct {
	stream *callStream
	id     uint64
	span   trace.Span
	node   ids.NodeID
	user   *limits.Account
	// first hears how the first try of a call that names no node ended: of its error where it did not find the node, else it
	// is closed. nil otherwise; changed only between tries.
	first chan *errs.Error

	// Guarded by the stream's mu.
	pending   *router.Pending
	cancelled string // why, where the call was given up before it was sent
}

// converse takes requests until the stream has to end.
func (c *callStream) converse(stream grpc.BidiStreamingServer[toolv1.CallsRequest, toolv1.CallsResponse]) error {
	received := make(chan error, 1)
	c.receivers.Go(func() { received <- c.receive(stream) }) // ends with the stream
	var err error
	select {
	case err = <-received:
	case <-c.Draining:
		// A peer keeps its stream for as long as it lives. What it asks from now on is refused, so once nothing is open it
		// knows of the rest, too, that it was not delivered.
		select {
		case err = <-received:
		case <-c.quiet():
			return errs.New(errs.Draining, "this pod is shutting down")
		}
	}
	if err != nil {
		return err
	}
	// The caller is done asking, and its open calls still get their answers.
	select {
	case <-c.quiet():
	case <-c.ctx.Done():
	}
	return nil
}

func (c *callStream) receive(stream grpc.BidiStreamingServer[toolv1.CallsRequest, toolv1.CallsResponse]) error {
	for {
		req, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case req.GetId() == 0:
			return invalid("id must not be 0")
		}
		switch action := req.GetAction().(type) {
		case *toolv1.CallsRequest_Start:
			if err := c.start(req.GetId(), action.Start); err != nil {
				return err
			}
		case *toolv1.CallsRequest_Cancel:
			c.cancel(req.GetId(), action.Cancel.GetReason())
		default:
			return invalid("call %d: an action is required", req.GetId())
		}
	}
}

// start begins a call. Only a misuse of the stream itself is an error.
func (c *callStream) start(id uint64, call *toolv1.Call) error {
	select {
	case c.places <- struct{}{}:
	case <-c.ctx.Done():
		return c.ctx.Err()
	}
	o := &openCall{stream: c, id: id}
	o.traced(call)
	c.mu.Lock()
	if c.open[id] != nil {
		c.mu.Unlock()
		return invalid("call %d is open already on this stream", id)
	}
	c.open[id] = o
	c.mu.Unlock()

	began := time.Now()
	err := c.admit()
	if err == nil {
		o.user, err = enter(c.Limits, call)
	}
	if err != nil {
		c.Router.Refused(o.span, began, err)
		o.fail(err)
		return nil
	}
	req, err := request(c.ctx, call)
	switch {
	case err != nil:
		o.fail(err)
	case req.Node != "":
		o.send(req, req.Node)
	default:
		// Choosing a node asks the registry, so it must not hold up the calls behind it.
		c.choosing.Go(func() {
			node, err := c.Router.Choose(c.ctx, req.Target)
			if err != nil {
				c.Router.Refused(o.span, began, err)
				o.fail(err)
				return
			}
			o.sendOrChooseAgain(req, node)
		})
	}
	return nil
}

// admit refuses streams, and calls on them, once they shall end.
func (s *Service) admit() error {
	select {
	case <-s.Draining:
		return errs.New(errs.Draining, "this pod is shutting down")
	default:
		return nil
	}
}

// traced begins the call's span: the stream's own lives as long as the stream. What is done for the call is under it.
func (o *openCall) traced(call *toolv1.Call) {
	parent := call.GetTraceparent()
	if parent, o.span = o.stream.Tracing.Continue(parent, trace.SpanKindServer, callsMethod); call != nil {
		call.Traceparent = parent
	}
	if o.span.IsRecording() {
		o.span.SetAttributes(attribute.String("rpc.system", "grpc"),
			attribute.String("rpc.service", toolv1.ToolService_ServiceDesc.ServiceName), attribute.String("rpc.method", "Calls"))
	}
}

// callsMethod is the method as spans name it.
var callsMethod = strings.TrimPrefix(toolv1.ToolService_Calls_FullMethodName, "/")

// send hands the call to the router, unless it was given up meanwhile.
func (o *openCall) send(req router.Request, node ids.NodeID) {
	c := o.stream
	c.mu.Lock()
	o.node = node
	given := o.cancelled
	c.mu.Unlock()
	if given != "" {
		o.fail(errs.New(errs.Cancelled, "the caller cancelled the call before it was sent"))
		return
	}
	p := c.Router.Start(req, node, o)
	c.mu.Lock()
	o.pending = p
	given = o.cancelled
	c.mu.Unlock()
	if given != "" {
		p.Cancel(given)
	}
}

// sendOrChooseAgain is send for a node that was chosen, and waits: where the node has left meanwhile, there may be another.
func (o *openCall) sendOrChooseAgain(req router.Request, node ids.NodeID) {
	o.first = make(chan *errs.Error, 1)
	o.send(req, node)
	missed := <-o.first
	if missed == nil {
		return
	}
	o.first = nil
	if next, ok := o.stream.Router.ChooseAgain(o.stream.ctx, req.Target, node); ok {
		o.send(req, next)
		return
	}
	o.fail(missed)
}

func (c *callStream) cancel(id uint64, reason string) {
	if reason == "" {
		reason = "cancelled by the caller"
	}
	c.mu.Lock()
	o := c.open[id]
	if o == nil { // over already
		c.mu.Unlock()
		return
	}
	p := o.pending
	o.cancelled = reason
	c.mu.Unlock()
	if p != nil {
		p.Cancel(reason)
	}
}

func (c *callStream) cancelAll() {
	c.mu.Lock()
	open := make([]uint64, 0, len(c.open))
	for id := range c.open {
		open = append(open, id)
	}
	c.mu.Unlock()
	for _, id := range open {
		c.cancel(id, "the caller's stream ended")
	}
}

// quiet returns a channel that is closed once no call is open and everything was handed to the sender.
func (c *callStream) quiet() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) == 0 && len(c.outbox) == 0 {
		idle := make(chan struct{})
		close(idle)
		return idle
	}
	if c.idle == nil {
		c.idle = make(chan struct{})
	}
	return c.idle
}

// Status implements [calls.Sink].
func (o *openCall) Status(calls.Status) {}

// Progress implements [calls.Sink].
func (o *openCall) Progress(params []byte) {
	o.stream.queue(&toolv1.CallsResponse{Id: o.id, Event: &toolv1.CallsResponse_Progress{Progress: readProgress(params)}}, nil)
}

// Done implements [calls.Sink].
func (o *openCall) Done(b *frame.Buffer, err *errs.Error) {
	if err != nil {
		if o.first != nil && err.Reason == errs.NodeNotConnected {
			o.first <- err
			return
		}
		o.fail(err)
		return
	}
	o.end(&answerMessage{answer: router.Read(o.node, b), field: fieldCallsAnswer, callID: o.id})
}

// fail ends the call without an answer.
func (o *openCall) fail(err error) {
	o.end(&toolv1.CallsResponse{Id: o.id, Event: &toolv1.CallsResponse_Failure{Failure: failure(err)}})
}

// end queues the last response of the call.
func (o *openCall) end(last any) {
	if o.first != nil {
		close(o.first)
	}
	o.span.End()
	o.user.Leave()
	o.stream.queue(last, o)
	<-o.stream.places
}

// queue hands a response to the sender; over is the call that it ends, if any. It never blocks.
func (c *callStream) queue(m any, over *openCall) {
	c.mu.Lock()
	if over != nil {
		delete(c.open, over.id)
	}
	if c.closed {
		c.mu.Unlock()
		free([]any{m})
		return
	}
	c.outbox = append(c.outbox, m)
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// send writes responses until the stream ends.
func (c *callStream) send(stream grpc.ServerStream) {
	var batch []any
	for {
		c.mu.Lock()
		batch, c.outbox = c.outbox, batch[:0]
		if len(batch) == 0 && len(c.open) == 0 && c.idle != nil {
			close(c.idle)
			c.idle = nil
		}
		c.mu.Unlock()
		for i, m := range batch {
			batch[i] = nil
			if stream.SendMsg(m) != nil {
				free(batch[i+1:])
				return // the stream has ended, and receive says why
			}
		}
		if len(batch) > 0 {
			continue
		}
		select {
		case <-c.wake:
		case <-c.ctx.Done():
			return
		}
	}
}

// discard frees the answers that nobody will read.
func (c *callStream) discard() {
	c.mu.Lock()
	defer c.mu.Unlock()
	free(c.outbox)
	c.outbox, c.closed = nil, true
}

func free(messages []any) {
	for _, m := range messages {
		if a, ok := m.(*answerMessage); ok {
			a.answer.Release()
		}
	}
}
