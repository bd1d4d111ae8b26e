package loop

import (
	"google.golang.org/grpc"

	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// Agent serves AgentService.Invoke with a bare loop. Other methods are unimplemented.
type Agent struct {
	agentv1.UnimplementedAgentServiceServer
	Loop *Loop
}

// Invoke implements AgentService.
func (a Agent) Invoke(req *agentv1.InvokeRequest, stream grpc.ServerStreamingServer[agentv1.InvokeResponse]) error {
	user, err := auth.BehalfOf(stream.Context())
	if err != nil {
		return err
	}
	seq := int64(0)
	send := func(e *agentv1.Event) error {
		seq++
		e.Seq, e.SessionId = seq, req.GetSessionId()
		return stream.Send(&agentv1.InvokeResponse{Event: e})
	}
	text, err := a.Loop.Run(stream.Context(), string(user), req.GetMessage(), Hear{
		Text: func(piece string) error {
			return send(&agentv1.Event{Kind: &agentv1.Event_Text{Text: &agentv1.Text{Content: piece}}})
		},
		Called: func(id, name, args string) error {
			return send(&agentv1.Event{Kind: &agentv1.Event_ToolCall{ToolCall: &agentv1.ToolCall{
				ToolCallId: id, ToolName: name, ToolArgsJson: []byte(args),
			}}})
		},
		Result: func(id, name, result string) error {
			return send(&agentv1.Event{Kind: &agentv1.Event_ToolCallResult{ToolCallResult: &agentv1.ToolCallResult{
				ToolCallId: id, ToolName: name, Result: result,
			}}})
		},
	})
	if err != nil {
		return err
	}
	return send(&agentv1.Event{Kind: &agentv1.Event_Complete{Complete: &agentv1.Complete{FinishReason: "stop", Content: text}}})
}
