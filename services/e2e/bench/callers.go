package main

import (
	"context"
	"errors"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hecaton-dev/hecaton/pkg/load"
	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/nodes"
	"github.com/hecaton-dev/hecaton/services/e2e/bench/relay"
)

const (
	// nodeCount spreads the calls: at 64 workers no node has two calls at once, at 512 it has 8 of its 64 places.
	nodeCount = 64
	// maxNodes are connected while calls are measured, so that each of them may have a node of its own.
	maxNodes = 512
	// perUser is below the limit of nodes that one user may have.
	perUser = 8
	// maxPods is the greatest number of entry pods.
	maxPods = 3
	// maxWorkers is the greatest concurrency measured.
	maxWorkers = 512
	// window is the flow control of every gRPC connection, the same on all ways: gRPC's own first 64 KiB hold less than
	// one large result.
	window = 16 << 20
	// maxMessage is the largest gRPC message.
	maxMessage = 16 << 20
)

// The call that is made, as in docs/protocols/zeus-nodes.md#calls.
const (
	tool      = "screenshot"
	arguments = `{"full_page":true}`
	// relayCall is the frame that our pods make of it, with an id of the same length.
	relayCall = `{"jsonrpc":"2.0","id":"550e8400-e29b-41d4-a716-446655440000","method":"tools/call","params":{"name":"` +
		tool + `","arguments":` + arguments + `}}`
	relayCallID = "550e8400-e29b-41d4-a716-446655440000"
)

func dial(addr string) (*grpc.ClientConn, error) {
	return grpc.NewClient(addr,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(window),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.ForceCodecV2(newCodec())),
	)
}

// caller makes calls on one way. What it opens is closed by close.
type caller struct {
	call  load.Call
	close func() error
}

// share makes one caller of several, among which the workers are shared out.
func share(callers []*caller) *caller {
	return &caller{
		call: func(ctx context.Context, worker int) (int, error) {
			return callers[worker%len(callers)].call(ctx, worker)
		},
		close: func() error {
			var errs []error
			for _, c := range callers {
				errs = append(errs, c.close())
			}
			return errors.Join(errs...)
		},
	}
}

// callRelay makes unary calls through a relay's entry pod.
func callRelay(addr string, t *targets) (*caller, error) {
	conn, err := dial(addr)
	if err != nil {
		return nil, err
	}
	frame := []byte(relayCall)
	call := func(ctx context.Context, worker int) (int, error) {
		var r reply
		err := relay.Call(ctx, conn, t.next(worker).relay(), frame, &r)
		return r.size - relayOverhead, err
	}
	return &caller{call: call, close: conn.Close}, nil
}

// relayOverhead is what a relay's answers have beyond the result.
var relayOverhead = nodes.AnswerSize(0, relayCallID)

// callUnary makes unary calls through one of our pods, which choose the node where none is named.
func callUnary(addr string, t *targets, named bool) (*caller, error) {
	conn, err := dial(addr)
	if err != nil {
		return nil, err
	}
	call := func(ctx context.Context, worker int) (int, error) {
		to := t.next(worker)
		if !named {
			to.node = ""
		}
		var r callToolReply
		err := conn.Invoke(ctx, toolv1.ToolService_CallTool_FullMethodName, &toolv1.CallToolRequest{Call: ourCall(to)}, &r)
		return r.size, err
	}
	return &caller{call: call, close: conn.Close}, nil
}

func ourCall(to called) *toolv1.Call {
	return &toolv1.Call{UserId: to.user, NodeId: to.node, ToolName: tool, ArgumentsJson: []byte(arguments)}
}

func theirCall(to called) *toolv1.Call {
	return &toolv1.Call{NodeId: to.relay(), ArgumentsJson: []byte(relayCall)}
}

// requestStream is the client's side of a stream of calls.
type requestStream interface {
	Send(*toolv1.CallsRequest) error
	CloseSend() error
	RecvMsg(any) error
}

// callCluster makes calls through one of our pods, all of them on one stream.
func callCluster(ctx context.Context, addr string, t *targets) (*caller, error) {
	return onStream(addr, func(conn *grpc.ClientConn) (*callStream, error) {
		stream, err := toolv1.NewToolServiceClient(conn).Calls(ctx)
		return &callStream{stream: stream, targets: t, request: ourCall}, err
	})
}

// callRelayStream makes calls through a relay's entry pod, all of them on one stream.
func callRelayStream(ctx context.Context, addr string, t *targets) (*caller, error) {
	return onStream(addr, func(conn *grpc.ClientConn) (*callStream, error) {
		stream, err := relay.Calls(ctx, conn)
		return &callStream{stream: stream, targets: t, request: theirCall, overhead: relayOverhead}, err
	})
}

func onStream(addr string, open func(*grpc.ClientConn) (*callStream, error)) (*caller, error) {
	conn, err := dial(addr)
	if err != nil {
		return nil, err
	}
	s, err := open(conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	s.ended = make(chan struct{})
	for i := range s.sizes {
		s.sizes[i] = make(chan int, 1)
	}
	go s.receive()
	return &caller{call: s.call, close: func() error { return errors.Join(s.close(), conn.Close()) }}, nil
}

// callStream is the client's side of a stream for workers that make one call each.
type callStream struct {
	*targets
	request  func(called) *toolv1.Call
	overhead int                  // of an answer, beyond the result
	sizes    [maxWorkers]chan int // of the answers; capacity 1
	ended    chan struct{}        // closed when nothing more is received
	err      error                // why; set before ended is closed

	mu     sync.Mutex // one message is sent at a time
	stream requestStream
}

func (s *callStream) receive() {
	defer close(s.ended)
	for {
		var r reply
		if s.err = s.stream.RecvMsg(&r); s.err != nil {
			return
		}
		s.sizes[r.id-1] <- r.size
	}
}

func (s *callStream) call(ctx context.Context, worker int) (int, error) {
	request := &toolv1.CallsRequest{Id: uint64(worker + 1), Action: &toolv1.CallsRequest_Start{Start: s.request(s.next(worker))}}
	s.mu.Lock()
	err := s.stream.Send(request)
	s.mu.Unlock()
	if err != nil {
		return 0, err
	}
	select {
	case size := <-s.sizes[worker]:
		return size - s.overhead, nil
	case <-s.ended:
		return 0, s.err
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// close ends the stream and waits for that.
func (s *callStream) close() error {
	if err := s.stream.CloseSend(); err != nil {
		return err
	}
	<-s.ended
	return nil
}
