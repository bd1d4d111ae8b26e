package relay

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
	"google.golang.org/grpc"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// idBase is the base in which a call's id stands in the subject of its answer.
const idBase = 36

// Stream is the caller's side of Relay/Calls.
type Stream = grpc.GenericClientStream[toolv1.CallsRequest, toolv1.CallsResponse]

var callsDesc = grpc.StreamDesc{StreamName: "Calls", ServerStreams: true, ClientStreams: true}

// Calls opens a stream of calls. As with [Call], node_id and arguments_json are all that is looked at.
func Calls(ctx context.Context, conn grpc.ClientConnInterface) (*Stream, error) {
	stream, err := conn.NewStream(ctx, &callsDesc, "/hecaton.bench.Relay/Calls")
	if err != nil {
		return nil, err
	}
	return &Stream{ClientStream: stream}, nil
}

// serveCalls is the entry pod's side: answers come to one inbox, whose last token is the call's id, and go to the caller as
// they come. A caller that ends its stream wants no more of them.
func serveCalls(srv any, s grpc.ServerStream) error {
	e := srv.(*Entry)
	stream := &grpc.GenericServerStream[toolv1.CallsRequest, toolv1.CallsResponse]{ServerStream: s}
	inbox := e.bus.NewInbox() + "."
	var sending sync.Mutex
	ended := false // guarded by sending: nothing may be sent once the handler has returned
	sub, err := e.bus.Subscribe(inbox+"*", func(m *nats.Msg) {
		id, _ := strconv.ParseUint(strings.TrimPrefix(m.Subject, inbox), idBase, 64) // it is our own
		sending.Lock()
		defer sending.Unlock()
		if !ended {
			_ = stream.Send(&toolv1.CallsResponse{Id: id, Event: &toolv1.CallsResponse_Answer{
				Answer: &toolv1.Answer{Outcome: &toolv1.Answer_ResultJson{ResultJson: m.Data}},
			}}) // where that fails, Recv says why
		}
	})
	if err != nil {
		return err
	}
	// Answers of many calls wait here while the caller reads: by default NATS drops what is beyond 64 MiB.
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return err
	}
	defer func() {
		_ = sub.Unsubscribe() // fails only once the bus is closed
		sending.Lock()
		defer sending.Unlock()
		ended = true
	}()
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		call := r.GetStart()
		err = e.bus.PublishRequest(subject(call.GetNodeId()), inbox+strconv.FormatUint(r.GetId(), idBase), call.GetArgumentsJson())
		if err != nil {
			return err
		}
	}
}
