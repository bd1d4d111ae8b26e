package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// A gateway that hangs keeps its sockets: nothing but its silence tells. So each heartbeat is a question, since gateways answer them, and
// any byte after it is an answer. Three things look like silence and are none:
//
//   - a large frame that comes by a slow line: its bytes count, not its end;
//   - a question behind a large frame that goes by a slow line: what was written gets the time that slowestLine needs for it;
//   - sleep of this machine, which neither asks nor hears: a question whose time was over much earlier than that was noticed is
//     asked again.

// slowestLine is what a node's uplink carries at least, in bytes a second: [MaxFrameBytes] within a minute.
const slowestLine = MaxFrameBytes / 60

// overslept is how much later than planned a question's end is noticed by a machine that slept meanwhile.
const overslept = 2 * time.Second

// alive is what a session knows of the other side's life.
type alive struct {
	began   time.Time
	heard   atomic.Int64 // how often something was read
	written atomic.Int64 // since began, in nanoseconds: when slowestLine has carried what was written
	silent  atomic.Bool  // a question was not answered
}

// writes notes that so many bytes were handed to the system.
func (a *alive) writes(n int) {
	takes := int64(n) * int64(time.Second) / slowestLine
	for {
		before := a.written.Load()
		if a.written.CompareAndSwap(before, max(before, int64(time.Since(a.began)))+takes) {
			return
		}
	}
}

// backlog is how long slowestLine still carries what was written.
func (a *alive) backlog() time.Duration {
	return max(0, time.Duration(a.written.Load())-time.Since(a.began))
}

// question is a heartbeat that waits for an answer; zero is none.
type question struct {
	asked time.Time
	heard int64 // how often something had been read by then
	wait  time.Duration
}

// slept reports whether this machine slept while the question was open, by one clock or the other: some clocks stop meanwhile.
func (q question) slept() bool {
	now := time.Now()
	return max(now.Sub(q.asked), now.Round(0).Sub(q.asked.Round(0))) > q.wait+overslept
}

var errSilent = errors.New("the gateway is silent")

// keepAlive sends heartbeats, and pongs, which the reader leaves to it so that a write never holds up reading. It ends a connection
// whose heartbeat is not answered.
func (s *session) keepAlive(ctx context.Context) {
	timer := time.NewTimer(s.node.timing.heartbeat)
	timer.Stop() // until the node is registered
	defer timer.Stop()
	welcome := s.welcome
	var q question
	for {
		var err error
		select {
		case <-welcome:
			timer.Reset(s.node.timing.heartbeat)
			welcome = nil
		case <-timer.C:
			var next time.Duration
			next, err = s.beat(ctx, &q)
			timer.Reset(next)
		case <-s.pings:
			err = s.send(ctx, pong)
		case <-ctx.Done():
			return
		}
		if err != nil {
			s.alive.silent.Store(errors.Is(err, errSilent))
			_ = s.ws.CloseNow() // the reader reports the loss
			return
		}
	}
}

// beat looks at the question that is open, and asks the next one if it is time. It returns when to look again.
func (s *session) beat(ctx context.Context, q *question) (time.Duration, error) {
	if !q.asked.IsZero() {
		answered := s.alive.heard.Load() != q.heard
		left := s.node.timing.heartbeat - time.Since(q.asked)
		switch {
		case !answered && !q.slept():
			return 0, errSilent
		case answered && left > 0:
			return left, nil
		}
	}
	*q = question{asked: time.Now(), heard: s.alive.heard.Load(), wait: s.node.timing.answer + s.alive.backlog()}
	return q.wait, s.send(ctx, heartbeat(s.node.calls.running()))
}

// readFrame goes on while ctx ends, since calls are still being answered then.
func (s *session) readFrame(ctx context.Context) (websocket.MessageType, []byte, error) {
	kind, r, err := s.ws.Reader(context.WithoutCancel(ctx))
	var data []byte
	if err == nil {
		s.alive.heard.Add(1)
		data, err = io.ReadAll(listener{r, &s.alive})
	}
	if err != nil && s.alive.silent.Load() {
		err = fmt.Errorf("the gateway did not answer a heartbeat within %v", s.node.timing.answer)
	}
	return kind, data, err
}

// listener notes that something was read.
type listener struct {
	io.Reader
	alive *alive
}

func (l listener) Read(p []byte) (n int, err error) {
	if n, err = l.Reader.Read(p); n > 0 {
		l.alive.heard.Add(1)
	}
	return n, err
}
