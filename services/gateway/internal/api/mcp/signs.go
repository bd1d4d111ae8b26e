package mcp

import (
	"bytes"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// signs are what a call sends of itself before its answer: its progress, where the client wants to hear of it, and a sign of life
// every now and then.
type signs struct {
	// Static after construction.
	q     *query
	token []byte // nil where the client did not ask for progress
	began time.Time
	timer *time.Timer

	queue chan []byte   // made with the first progress, and read by one goroutine; closed by stop
	told  chan struct{} // closed when that goroutine has ended

	mu   sync.Mutex // guards queue and told, too
	over bool

	writing sync.Mutex // held while something is written; last and any belong to it
	last    float64    // the progress that was sent, which has to rise
	any     bool
}

// waiting is how many notifications may wait for a client that reads slowly; more are dropped.
const waiting = 64

// signs begins them; stop ends them.
func (q *query) signs() *signs {
	s := &signs{q: q, token: q.msg.Meta.ProgressToken, began: time.Now()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(q.api.Heartbeat, s.beat)
	return s
}

// stop returns once everything is sent, and nothing more will be.
func (s *signs) stop() {
	s.mu.Lock()
	s.over = true
	s.timer.Stop()
	told := s.told
	if s.queue != nil {
		close(s.queue)
	}
	s.mu.Unlock()
	if told != nil {
		<-told
	}
	s.writing.Lock() // for a beat that has begun
	defer s.writing.Unlock()
}

// progress takes the params of a node's notification. It does not block.
func (s *signs) progress(params []byte) {
	if s.token == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	if s.queue == nil {
		s.queue, s.told = make(chan []byte, waiting), make(chan struct{})
		go s.tellAll(s.queue, s.told)
	}
	select {
	case s.queue <- bytes.Clone(params):
	default:
	}
}

func (s *signs) tellAll(queue <-chan []byte, told chan<- struct{}) {
	defer close(told)
	for params := range queue {
		s.tell(params)
	}
}

// tell hands on what the tool says, under the client's token.
func (s *signs) tell(params []byte) {
	var value float64
	var total, message []byte
	known := false
	jsonrpc.Members(params, func(name, raw []byte) {
		switch string(name) {
		case "progress":
			known = isNumber(raw) && json.Unmarshal(raw, &value) == nil
		case "total":
			if isNumber(raw) {
				total = raw
			}
		case "message":
			if raw[0] == '"' {
				message = raw
			}
		}
	})
	s.writing.Lock()
	defer s.writing.Unlock()
	if known && (!s.any || value > s.last) {
		s.send(value, total, message)
		s.timer.Reset(s.q.api.Heartbeat)
	}
}

func isNumber(raw []byte) bool { return raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9' }

// beat is a sign of life.
func (s *signs) beat() {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	over := s.over
	s.mu.Unlock()
	if over {
		return
	}
	if s.token == nil {
		s.q.out.comment()
	} else {
		// A little more than what the tool said last, so that what it says next is more still.
		message := "still running after " + seconds(time.Since(s.began)) + " s"
		s.send(s.last+0.0001, nil, jsonrpc.AppendString(nil, message))
	}
	s.timer.Reset(s.q.api.Heartbeat)
}

// send sends a notification; writing is held.
func (s *signs) send(value float64, total, message []byte) {
	s.last, s.any = value, true
	b := append([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`), s.token...)
	b = strconv.AppendFloat(append(b, `,"progress":`...), value, 'f', -1, 64)
	if total != nil {
		b = append(append(b, `,"total":`...), total...)
	}
	if message != nil {
		b = append(append(b, `,"message":`...), message...)
	}
	s.q.out.event(append(b, "}}"...))
}
