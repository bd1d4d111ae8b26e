package router

import (
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel/trace"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// Pending is a call that is on its way. It is the call's sink, here or at the end of the bus.
type Pending struct {
	// Static after construction; number is 0 for a call at a node of this pod.
	r           *Router
	key         ids.Node
	id          ids.CallID
	deadline    time.Time
	began       time.Time // zero for a frame that is no call
	sink        calls.Sink
	traceparent string     // of what is done for the call
	span        trace.Span // the call's; nil for a frame that is no call
	frame       []byte     // kept for upload
	number      uint64

	mu     sync.Mutex
	over   bool
	queued bool
	lapsed bool // the deadline passed while the call was queued
	spoken bool // a holder has said that it has the call
	heard  time.Time
	timer  *time.Timer
	chunks bus.Assembly
}

// arm starts the deadline's timer.
func (p *Pending) arm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.timer = time.AfterFunc(time.Until(p.deadline), p.expire)
	}
}

// expire ends a call at its deadline. One that still waits for a place at its node has not been delivered, but only its
// holder knows for sure: it is asked, and has [verdict] to say so.
func (p *Pending) expire() {
	p.mu.Lock()
	if p.over {
		p.mu.Unlock()
		return
	}
	if p.queued && !p.lapsed {
		p.lapsed = true
		p.timer.Reset(verdict)
		p.mu.Unlock()
		p.tell("deadline exceeded")
		return
	}
	p.mu.Unlock()
	if p.fail(errs.New(errs.ToolTimeout, "the node did not answer before the deadline")) {
		p.tell("deadline exceeded")
	}
}

// Cancel gives the call up. The node is told if it has the call.
func (p *Pending) Cancel(reason string) {
	if p.fail(errs.New(errs.Cancelled, "the caller cancelled the call")) {
		p.tell(reason)
	}
}

// tell lets the holder know that nobody waits for the call any more.
func (p *Pending) tell(reason string) {
	if p.number == 0 {
		p.r.Local.Cancel(p.key, p.id, reason)
		return
	}
	if err := p.r.Bus.PublishMsg(envelope.EndCall(bus.NodePrefix(p.key)+bus.SuffixControl, p.id, reason)); err != nil {
		p.r.Logger.Warn("the holder could not be told that a call is cancelled", "error", err)
	}
}

// Status implements [calls.Sink].
func (p *Pending) Status(s calls.Status) {
	p.mu.Lock()
	p.heard, p.spoken = time.Now(), true
	if s != calls.Working {
		p.queued = s == calls.Queued
	}
	over := p.over
	p.mu.Unlock()
	if !over {
		p.sink.Status(s)
	}
}

// Progress implements [calls.Sink].
func (p *Pending) Progress(params []byte) {
	p.mu.Lock()
	p.heard, p.spoken = time.Now(), true
	over := p.over
	p.mu.Unlock()
	if !over {
		p.sink.Progress(params)
	}
}

// Done implements [calls.Sink].
func (p *Pending) Done(answer *frame.Buffer, err *errs.Error) {
	if !p.finish() {
		release(answer)
		return
	}
	p.count(err)
	p.sink.Done(answer, err)
}

// fail ends the call without an answer and reports whether it was still open.
func (p *Pending) fail(err *errs.Error) bool {
	if !p.finish() {
		return false
	}
	p.count(err)
	p.sink.Done(nil, err)
	return true
}

func (p *Pending) count(err *errs.Error) {
	if p.began.IsZero() {
		return
	}
	p.r.CallEnded(p.span, err, time.Since(p.began))
	p.close(err)
	if err != nil && err.Reason.Class() == errs.Unknown && err.Reason != errs.Cancelled {
		p.r.Logger.InfoContext(p.logged(), "outcome of a call unknown", "call", p.id, "reason", err.Reason)
	}
}

// finish ends the call, once, and reports whether it was still open.
func (p *Pending) finish() bool {
	p.mu.Lock()
	if p.over {
		p.mu.Unlock()
		return false
	}
	p.over = true
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Unlock()
	if p.number != 0 {
		p.r.leave(p.number)
	}
	return true
}

// chunk takes an answer, or a part of one. Only the bus's own goroutine calls it.
func (p *Pending) chunk(m *nats.Msg, limit int) {
	p.mu.Lock()
	p.heard, p.spoken = time.Now(), true
	p.mu.Unlock()
	data, err := p.chunks.AddAgain(m, limit) // a holder that was cut off sends it again
	switch {
	case err != nil:
		p.fail(errs.New(errs.HolderLost, "the answer did not arrive whole: %w", err))
	case data != nil:
		p.Done(frame.Wrap(data), nil)
	}
}

// upload sends a frame that was too large for the request itself to where its holder wants it.
func (p *Pending) upload(subject string) {
	p.mu.Lock()
	p.heard = time.Now()
	p.mu.Unlock()
	if err := p.r.Bus.PublishAny(&nats.Msg{Subject: subject, Data: p.frame}); err != nil {
		p.fail(errs.New(errs.BusUnavailable, "send the frame: %w", err))
	}
}

// checkSilence ends the call where its holder has fallen silent. It reports whether the call may be one that no pod has seen.
func (p *Pending) checkSilence(now time.Time, busUp bool) (doubtful bool) {
	p.mu.Lock()
	if !busUp {
		p.heard = now
	}
	silent := now.Sub(p.heard)
	doubtful = silent > doubt && !p.spoken && !p.over && !p.began.IsZero()
	p.mu.Unlock()
	if silent > silence {
		p.fail(errs.New(errs.HolderLost, "the pod that holds the node fell silent during the call"))
	}
	return doubtful && silent <= silence
}
