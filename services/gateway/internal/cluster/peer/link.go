package peer

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// outgoing is an answer on its way.
type outgoing struct {
	number uint64
	answer *frame.Buffer
	back   func(*frame.Buffer)
}

type state uint8

const (
	opening state = iota
	up
	down
)

// link is one connection to a pod, from the attempt to open it to its end.
type link struct {
	retry time.Time     // not before then is another one opened; static
	wake  chan struct{} // capacity 1

	mu     sync.Mutex
	state  state
	queue  []outgoing
	queued int
}

func (k *link) over() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state == down
}

func (k *link) begin() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state = up
}

// end hands back what was not written. The link is down before any answer is handed back.
func (k *link) end() {
	k.mu.Lock()
	k.state = down
	rest := k.queue
	k.queue = nil
	k.mu.Unlock()
	for _, p := range rest {
		p.back(p.answer)
	}
}

// push queues an answer, if the link is up and has room. There is always room for a single one.
func (k *link) push(p outgoing) bool {
	size := len(p.answer.Bytes())
	k.mu.Lock()
	if k.state != up || k.queued > 0 && k.queued+size > maxQueued {
		k.mu.Unlock()
		return false
	}
	k.queue = append(k.queue, p)
	k.queued += size
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
	return true
}

// write drains the queue until the link fails or ctx ends. An answer that was not written whole is in the queue again.
func (k *link) write(ctx context.Context, nc net.Conn) error {
	for {
		k.mu.Lock()
		batch := k.queue
		k.queue = nil
		k.mu.Unlock()
		for i, p := range batch {
			if err := writeAnswer(nc, p); err != nil {
				k.mu.Lock()
				k.queue = append(batch[i:], k.queue...)
				k.mu.Unlock()
				return err
			}
			k.mu.Lock()
			k.queued -= len(p.answer.Bytes())
			k.mu.Unlock()
			p.answer.Release()
		}
		if len(batch) > 0 {
			continue
		}
		select {
		case <-k.wake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func writeAnswer(nc net.Conn, p outgoing) error {
	if err := nc.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	data := p.answer.Bytes()
	parts := net.Buffers{header(p.number, len(data)), data}
	_, err := parts.WriteTo(nc)
	return err
}
