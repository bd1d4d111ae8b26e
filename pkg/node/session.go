package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
)

// session is one connection. It reads in one goroutine, keeps itself alive in a second, gets new tokens in a third, and every call answers from its
// own: the WebSocket library lets writers wait for each other.
type session struct {
	// Static after construction.
	node  *Node
	ws    *websocket.Conn
	token string // that it was opened with; "" for none
	// registered holds the gateway's answer to register, tokens that to a new token, pings that the gateway wants a pong.
	// All have room for one.
	registered chan registeredFrame
	tokens     chan tokenAckFrame
	pings      chan struct{}

	// welcome is closed once the gateway has registered the node.
	welcome chan struct{}
	alive   alive
}

func newSession(n *Node, ws *websocket.Conn, token string) *session {
	return &session{
		node: n, ws: ws, token: token, alive: alive{began: time.Now()}, welcome: make(chan struct{}),
		registered: make(chan registeredFrame, 1), tokens: make(chan tokenAckFrame, 1), pings: make(chan struct{}, 1),
	}
}

// run owns the connection and its goroutines. It returns nil where ctx ended, else why the connection did.
func (s *session) run(ctx context.Context) error {
	var goroutines sync.WaitGroup
	lost := make(chan error, 1)
	open, die := context.WithCancel(ctx)
	goroutines.Go(func() { lost <- s.read(ctx) })
	goroutines.Go(func() { s.keepAlive(open) })
	goroutines.Go(func() { s.stayKnown(open, s.token) })
	defer func() {
		die()
		_ = s.ws.CloseNow()
		goroutines.Wait()
	}()

	hello, err := register(s.node.opts, s.node.names, s.node.defs)
	if err != nil {
		return fmt.Errorf("encode register: %w", err)
	}
	_ = s.send(ctx, hello) // why it failed, the reader knows better: it has the close code
	late := time.NewTimer(s.node.timing.register)
	defer late.Stop()
	welcome := false
	for {
		select {
		case answer := <-s.registered:
			if !answer.Success {
				return &RegisterError{Reason: answer.Error}
			}
			late.Stop()
			if !welcome {
				close(s.welcome)
			}
			welcome = true
			s.node.opts.Logger.InfoContext(ctx, "node connected", "node", s.node.opts.NodeID)
			s.node.enter(State{Phase: Connected})
		case err := <-lost:
			if closed := (*ClosedError)(nil); welcome && errors.As(err, &closed) && closed.Code == closeNotAllowed {
				return fmt.Errorf("%w: %s", errTokenOver, closed.Reason)
			}
			return s.registerVerdict(err)
		case <-late.C:
			return fmt.Errorf("%w: register, within %v", errAbandoned, s.node.timing.register)
		case <-ctx.Done():
			s.leave()
			return nil
		}
	}
}

// registerVerdict prefers the gateway's refusal to the close that follows it.
func (s *session) registerVerdict(err error) error {
	select {
	case answer := <-s.registered:
		if !answer.Success {
			return &RegisterError{Reason: answer.Error}
		}
	default:
	}
	return err
}

// leave lets the calls, whose contexts have ended, send their answers, and says goodbye. A gateway that does not read
// holds it up for a moment only.
func (s *session) leave() {
	hurry := time.AfterFunc(s.node.timing.leave, func() { _ = s.ws.CloseNow() })
	defer hurry.Stop()
	s.node.calls.drain()
	_ = s.ws.Close(websocket.StatusNormalClosure, "the node stops")
}

// send writes one frame. Its deadline is its own: an answer is sent also where the call's context has ended. A
// connection that is closed ends every send.
func (s *session) send(ctx context.Context, frame []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.node.timing.write)
	defer cancel()
	err := s.ws.Write(ctx, websocket.MessageText, frame)
	if err == nil {
		s.alive.writes(len(frame))
	}
	return err
}

// read handles frames until the connection ends. It returns why.
func (s *session) read(ctx context.Context) error {
	for {
		kind, data, err := s.readFrame(ctx)
		if err != nil {
			return connectionError(err)
		}
		if kind != websocket.MessageText {
			s.node.opts.Logger.DebugContext(ctx, "binary frame ignored", "bytes", len(data))
			continue
		}
		s.handle(ctx, data)
	}
}

func (s *session) handle(ctx context.Context, data []byte) {
	switch f := parse(data).(type) {
	case callFrame:
		s.call(ctx, f)
	case cancelFrame:
		s.node.calls.cancelCall(f.id, &CancelledError{Reason: f.reason})
	case pingFrame:
		offer(s.pings, struct{}{})
	case registeredFrame:
		offer(s.registered, f)
	case tokenAckFrame:
		offer(s.tokens, f)
	case badFrame:
		s.node.opts.Logger.WarnContext(ctx, "bad frame", "problem", f.message)
		_ = s.send(ctx, jsonrpc.ErrorFrame(f.id, f.code, f.message))
	case ignoredFrame:
		s.node.opts.Logger.DebugContext(ctx, "frame ignored", "what", f.what)
	}
}

// offer puts v where there is room for it. A second ping or `registered` before the first was looked at says nothing new.
func offer[T any](c chan<- T, v T) {
	select {
	case c <- v:
	default:
	}
}
