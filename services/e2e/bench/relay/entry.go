package relay

import (
	"context"

	"github.com/nats-io/nats.go"
	"google.golang.org/grpc"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

func subject(node string) string { return "relay." + node + ".call" }

// Entry is the pod that callers dial.
type Entry struct{ bus *nats.Conn }

// NewEntry returns an Entry on a bus.
func NewEntry(bus *nats.Conn) *Entry { return &Entry{bus} }

// Register adds Relay/Call and Relay/Calls to a server. They speak the messages of ToolService, so that protobuf costs
// the same on both ways: of the Call only node_id, and arguments_json, which is the whole frame; of the Answer only
// result_json, which is the whole answer frame.
func (e *Entry) Register(s *grpc.Server) {
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "hecaton.bench.Relay",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{
			MethodName: "Call",
			Handler: func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				call := new(toolv1.Call)
				if err := decode(call); err != nil {
					return nil, err
				}
				return e.call(ctx, call)
			},
		}},
		Streams: []grpc.StreamDesc{{StreamName: callsDesc.StreamName, Handler: serveCalls, ServerStreams: true, ClientStreams: true}},
	}, e)
}

func (e *Entry) call(ctx context.Context, c *toolv1.Call) (*toolv1.Answer, error) {
	m, err := e.bus.RequestWithContext(ctx, subject(c.GetNodeId()), c.GetArgumentsJson())
	if err != nil {
		return nil, err
	}
	return &toolv1.Answer{Outcome: &toolv1.Answer_ResultJson{ResultJson: m.Data}}, nil
}

// Call sends a frame to a node and decodes the answer, a toolv1.Answer, into reply.
func Call(ctx context.Context, conn grpc.ClientConnInterface, node string, frame []byte, reply any) error {
	return conn.Invoke(ctx, "/hecaton.bench.Relay/Call", &toolv1.Call{NodeId: node, ArgumentsJson: frame}, reply)
}
