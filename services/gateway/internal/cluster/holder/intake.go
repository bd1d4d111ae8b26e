package holder

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
)

// intake takes frames that are too large for one message. A queue group could hand the chunks of one frame to different
// pods, so the holder first names a subject of its own, and the chunks go there. All of it belongs to the dispatcher.
type intake struct {
	prefix string
	sub    *nats.Subscription
	next   uint64
	open   map[uint64]*incoming
}

type incoming struct {
	chunks   bus.Assembly
	deadline time.Time
	then     func(frame []byte)
	fail     func(*errs.Error)
}

// listen subscribes to the pod's intake subjects.
func (in *intake) listen(h *Holder) (err error) {
	in.prefix = bus.IntakePrefix(h.Gateway)
	in.open = make(map[uint64]*incoming)
	in.sub, err = h.Bus.ChanSubscribe(in.prefix+"*", h.messages)
	return err
}

func (in *intake) close() { _ = in.sub.Unsubscribe() }

// expect answers a request of size bytes on reply with the subject to which its frame is to be sent.
func (in *intake) expect(b *bus.Conn, reply string, size, limit int, p incoming) {
	now := time.Now()
	maps.DeleteFunc(in.open, func(_ uint64, p *incoming) bool { return now.After(p.deadline) })
	if size > limit {
		p.fail(errs.New(errs.TooLarge, "the frame has %d bytes, at most %d are allowed", size, limit))
		return
	}
	in.next++
	in.open[in.next] = &p
	subject := in.prefix + strconv.FormatUint(in.next, 10)
	if err := b.PublishMsg(envelope.Reply(reply, envelope.Intake, []byte(subject))); err != nil {
		delete(in.open, in.next) // the caller cannot be reached; its own pod tells it
	}
}

// take adds a chunk to its frame.
func (in *intake) take(m *nats.Msg, limit int) {
	n, err := strconv.ParseUint(strings.TrimPrefix(m.Subject, in.prefix), 10, 64)
	p := in.open[n]
	if err != nil || p == nil {
		return
	}
	frame, err := p.chunks.Add(m, limit)
	switch {
	case err != nil:
		delete(in.open, n)
		p.fail(errs.New(errs.BusUnavailable, "the frame did not arrive whole: %w", err))
	case frame != nil:
		delete(in.open, n)
		p.then(frame)
	}
}
