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
	// perUser is below the limit of nodes that one user may have.
	perUser = 8
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

// caller makes calls on one way.
type caller struct {
	conn *grpc.ClientConn
	call load.Call
	stop func() error
}

func (c *caller) close() error {
	return errors.Join(c.stop(), c.conn.Close())
}

// callRelay makes unary calls through a relay's entry pod.
func callRelay(addr string) (*caller, error) {
	conn, err := dial(addr)
	if err != nil {
		return nil, err
	}
	var ids [nodeCount]string
	for i := range ids {
		user, node := nodes.Name(i, perUser)
		ids[i] = user + "-" + node
	}
	frame := []byte(relayCall)
	overhead := nodes.AnswerSize(0, relayCallID)
	call := func(ctx context.Context, worker int) (int, error) {
		var r reply
		err := relay.Call(ctx, conn, ids[worker%nodeCount], frame, &r)
		return r.size - overhead, err
	}
	return &caller{conn: conn, call: call, stop: func() error { return nil }}, nil
}

// callCluster makes calls through one of our pods, all of them on one stream.
func callCluster(ctx context.Context, addr string) (*caller, error) {
	conn, err := dial(addr)
	if err != nil {
		return nil, err
	}
	stream, err := toolv1.NewToolServiceClient(conn).Calls(ctx)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	s := newCallStream(stream)
	return &caller{conn: conn, call: s.call, stop: s.close}, nil
}

// callStream is the client's side of ToolService.Calls for workers that make one call each.
type callStream struct {
	requests [maxWorkers]*toolv1.CallsRequest
	sizes    [maxWorkers]chan int // of the results; capacity 1
	ended    chan struct{}        // closed when nothing more is received
	err      error                // why; set before ended is closed

	mu     sync.Mutex // one message is sent at a time
	stream grpc.BidiStreamingClient[toolv1.CallsRequest, toolv1.CallsResponse]
}

func newCallStream(stream grpc.BidiStreamingClient[toolv1.CallsRequest, toolv1.CallsResponse]) *callStream {
	s := &callStream{stream: stream, ended: make(chan struct{})}
	for i := range maxWorkers {
		user, node := nodes.Name(i%nodeCount, perUser)
		s.requests[i] = &toolv1.CallsRequest{Id: uint64(i + 1), Action: &toolv1.CallsRequest_Start{Start: &toolv1.Call{
			UserId: user, NodeId: node, ToolName: tool, ArgumentsJson: []byte(arguments),
		}}}
		s.sizes[i] = make(chan int, 1)
	}
	go s.receive()
	return s
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
	s.mu.Lock()
	err := s.stream.Send(s.requests[worker])
	s.mu.Unlock()
	if err != nil {
		return 0, err
	}
	select {
	case size := <-s.sizes[worker]:
		return size, nil
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
