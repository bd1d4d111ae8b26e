package toolclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// stream carries many calls to one gateway. One goroutine writes, one reads; both belong to run.
type stream struct {
	// static after construction
	peer   *peer
	rpc    grpc.BidiStreamingClient[toolv1.CallsRequest, toolv1.CallsResponse]
	over   <-chan struct{}
	cancel context.CancelFunc // closes over
	wake   chan struct{}      // capacity 1; tells the writer to look

	asked atomic.Int64 // Unix nanoseconds of the first call since something was heard; 0 where there was none

	mu      sync.Mutex
	open    map[uint64]*pending
	outbox  []outgoing
	lastID  uint64
	retired bool  // takes no new calls
	ended   error // why it is over; nil while it is not
}

// outgoing is one request that was not written yet.
type outgoing struct {
	request *toolv1.CallsRequest
	starts  *pending // nil for a cancel
}

func newStream(p *peer, rpc grpc.BidiStreamingClient[toolv1.CallsRequest, toolv1.CallsResponse], over <-chan struct{}, cancel context.CancelFunc) *stream {
	return &stream{peer: p, rpc: rpc, over: over, cancel: cancel, wake: make(chan struct{}, 1), open: map[uint64]*pending{}}
}

// run returns when the stream is over and every call on it has ended. The end of life ends it.
func (s *stream) run(life context.Context) {
	var writer sync.WaitGroup
	writer.Go(s.write)
	err := s.read()
	if errors.Is(err, io.EOF) {
		err = errors.New("the gateway ended the stream")
	}
	s.fail(err)
	s.cancel()
	writer.Wait()
	s.end(life, err)
}

func (s *stream) read() error {
	for {
		var r response
		if err := s.rpc.RecvMsg(&r); err != nil {
			return err
		}
		s.deliver(&r)
	}
}

// deliver hands a response to its call; one whose caller has gone is dropped.
func (s *stream) deliver(r *response) {
	s.asked.Store(0)
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.open[r.id]
	switch {
	case p == nil:
	case r.progress != nil:
		p.hear(r.progress)
	case r.answer != nil:
		s.settle(p, r.answer, nil)
	case r.failure != nil:
		s.settle(p, nil, failed(r.failure))
	}
}

// failed is the error that a gateway reports.
func failed(f *toolv1.Failure) error {
	if reason := errs.Reason(f.GetReason()); !reason.OfCall() && f.GetOutcome() == string(errs.NotDelivered) {
		code := codes.Internal
		if reason == errs.InvalidArgument {
			code = codes.InvalidArgument
		}
		return status.Error(code, f.GetMessage())
	}
	return errs.FromFailure(f)
}

// quietFor is how long a gateway that was asked may say nothing before others are asked first. It may be at work, and it
// may be paused, or out of reach of the network: a connection that is dead is noticed only after some ten seconds more.
const quietFor = 2 * time.Second

// quiet reports whether the gateway was asked and has not been heard of since, for too long.
func (s *stream) quiet(now time.Time) bool {
	asked := s.asked.Load()
	return asked != 0 && now.Sub(time.Unix(0, asked)) > quietFor
}

// settle ends a call. mu is held.
func (s *stream) settle(p *pending, answer *toolv1.Answer, err error) {
	delete(s.open, p.id)
	p.answer, p.err, p.over = answer, err, true
	close(p.done)
	if s.retired && len(s.open) == 0 {
		s.wakeWriter()
	}
}

// write sends what is in the outbox until the stream is over, or retired and without calls.
func (s *stream) write() {
	for {
		next, state := s.take()
		switch state {
		case more:
			if err := s.rpc.Send(next.request); err != nil { // nothing of it has left; the reader learns why
				s.untake(next)
				return
			}
		case never:
			_ = s.rpc.CloseSend() // which does not fail: the reader hears how the stream ends
			return
		case later:
			select {
			case <-s.wake:
			case <-s.over:
				return
			}
		}
	}
}

// outboxState says whether there is something to be written.
type outboxState int

const (
	more outboxState = iota
	later
	never
)

// take returns what is to be written next, and counts it as written.
func (s *stream) take() (outgoing, outboxState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.outbox) == 0 {
		s.outbox = nil
		if s.retired && len(s.open) == 0 {
			return outgoing{}, never
		}
		return outgoing{}, later
	}
	next := s.outbox[0]
	s.outbox[0] = outgoing{}
	s.outbox = s.outbox[1:]
	if next.starts != nil {
		next.starts.sent = true
	}
	return next, more
}

// untake undoes take for a request that was not written.
func (s *stream) untake(o outgoing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.starts != nil {
		o.starts.sent = false
	}
}

// post queues a request. mu is held.
func (s *stream) post(o outgoing) {
	s.outbox = append(s.outbox, o)
	s.wakeWriter()
}

func (s *stream) wakeWriter() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// retire takes no new calls; those that are open go on.
func (s *stream) retire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retired = true
	s.wakeWriter()
}

// fail notes why the stream has ended.
func (s *stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retired, s.ended = true, err
}

// end settles the calls that the stream leaves behind.
func (s *stream) end(life context.Context, err error) {
	lost := errs.New(errs.HolderLost, "the stream to the gateway broke: %w", fmt.Errorf("%s: %w", s.peer.key.address, err))
	if life.Err() != nil {
		lost = errs.New(errs.Cancelled, "the client was closed")
	}
	refused := refusedWhole(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outbox = nil
	for _, p := range s.open {
		if p.sent && !refused {
			s.settle(p, nil, lost)
		} else {
			s.settle(p, nil, &unsentError{err})
		}
	}
}

// why returns what ended the stream.
func (s *stream) why() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		return errors.New("the gateway is shutting down, or its connection was lost")
	}
	return s.ended
}

// refusedWhole reports whether none of the calls that were open when the stream ended with err was delivered: the gateway
// refused the stream before it read any call, or it drains, and has answered every call that it took.
func refusedWhole(err error) bool {
	switch status.Code(err) {
	case codes.Unauthenticated, codes.PermissionDenied, codes.Unimplemented:
		return true
	}
	return drains(err)
}

// drains reports whether a stream ended because its gateway drains.
func drains(err error) bool { return err != nil && errors.Is(errs.FromGRPC(err), errs.Draining) }
