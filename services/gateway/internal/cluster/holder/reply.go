package holder

import (
	"time"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel/trace"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/peer"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// busReply is the sink of a call that came over the bus: what it is told goes to the call's reply subject.
type busReply struct {
	h        *Holder
	subject  string
	deadline time.Time
	span     trace.Span // of the call, since it came
}

func (r *busReply) Status(s calls.Status) {
	_ = r.h.Bus.PublishMsg(envelope.Status(r.subject, s)) // the next one follows soon
}

func (r *busReply) Progress(params []byte) {
	_ = r.h.Bus.PublishMsg(envelope.Reply(r.subject, envelope.Progress, params)) // progress may be lost
}

func (r *busReply) Done(answer *frame.Buffer, err *errs.Error) {
	defer r.span.End()
	if r.span.IsRecording() {
		obs.Outcome(r.span, err)
	}
	if err == nil {
		if !r.h.shortcut(r.subject, answer, r.publish) {
			r.publish(answer)
		}
		return
	}
	r.end(envelope.Failure(r.subject, err))
}

// publish sends an answer over the bus, in as many parts as it takes.
func (r *busReply) publish(answer *frame.Buffer) {
	r.end(&nats.Msg{Subject: r.subject, Data: answer.Bytes()})
	answer.Release() // the bus has copied it
}

// end publishes the last message of a call, or keeps it until the bus is back.
func (r *busReply) end(m *nats.Msg) {
	if pubErr := r.h.Bus.PublishAny(m); pubErr != nil {
		r.h.Logger.Warn("the answer to a call waits for the bus", "error", pubErr)
		r.h.outbox.keep(m, r.deadline)
	}
}

// shortcut hands a large answer to the link of the pod that waits for it.
func (h *Holder) shortcut(subject string, answer *frame.Buffer, back func(*frame.Buffer)) bool {
	if h.Links == nil || len(answer.Bytes()) < peer.Large {
		return false
	}
	gateway, number, err := bus.ReplyTo(subject)
	return err == nil && h.Links.Send(gateway, number, answer, back)
}
