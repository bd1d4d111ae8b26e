package holder

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
)

const (
	// outboxLimit bounds the answers that wait for the bus, in bytes.
	outboxLimit = 64 << 20
	// resendAfter is how long an answer waits that the router's pod was not there to hear.
	resendAfter = 100 * time.Millisecond
	// flushTimeout bounds the wait for the server to confirm a batch.
	flushTimeout = 5 * time.Second
)

// outbox keeps the ends of calls that could not be published, until the bus is back or their deadline has passed.
type outbox struct {
	bus *bus.Conn

	mu    sync.Mutex
	bytes int
	kept  []kept
}

type kept struct {
	msg      *nats.Msg
	deadline time.Time
}

// keep stores a copy. Beyond the limit the answer is lost, and the router reports an unknown outcome.
func (o *outbox) keep(m *nats.Msg, deadline time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.bytes+len(m.Data) > outboxLimit {
		return
	}
	m.Data = bytes.Clone(m.Data)
	o.bytes += len(m.Data)
	o.kept = append(o.kept, kept{m, deadline})
}

// take empties the outbox and returns what is still waited for.
func (o *outbox) take() []kept {
	o.mu.Lock()
	defer o.mu.Unlock()
	var wanted []kept
	for _, k := range o.kept {
		if time.Now().Before(k.deadline) {
			wanted = append(wanted, k)
		}
	}
	o.kept, o.bytes = nil, 0
	return wanted
}

// flush sends what is still wanted, once the bus is back. The pods of the routers may come back later than this one, and
// a bus without their subscriptions would drop what is for them: that is sent again.
func (o *outbox) flush(ctx context.Context) {
	for o.bus.Up() {
		batch := o.take()
		if len(batch) == 0 {
			return
		}
		for _, k := range o.send(ctx, batch) {
			o.keep(k.msg, k.deadline)
		}
		select {
		case <-time.After(resendAfter):
		case <-ctx.Done():
			return
		}
	}
}

// send publishes a batch and returns what nobody heard. The server tells of that before it answers the flush.
func (o *outbox) send(ctx context.Context, batch []kept) (unheard []kept) {
	parts := 0
	for _, k := range batch {
		parts += 1 + len(k.msg.Data)/o.bus.MaxMessage()
	}
	inbox, refusals := o.bus.NewRespInbox()+".", make(chan *nats.Msg, parts)
	sub, err := o.bus.ChanSubscribe(inbox+"*", refusals)
	if err != nil {
		return batch
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only once the bus is closed
	failed := make([]bool, len(batch))
	for i, k := range batch {
		k.msg.Reply = inbox + strconv.Itoa(i)
		failed[i] = o.bus.PublishAny(k.msg) != nil
	}
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	if o.bus.FlushWithContext(ctx) != nil {
		return batch
	}
	for len(refusals) > 0 {
		m := <-refusals
		i, err := strconv.Atoi(strings.TrimPrefix(m.Subject, inbox))
		if err == nil && i < len(batch) && envelope.NoResponders(m) {
			failed[i] = true
		}
	}
	for i, k := range batch {
		if failed[i] {
			unheard = append(unheard, k)
		}
	}
	return unheard
}
