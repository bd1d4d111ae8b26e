package holder

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// received begins the span of a call that came over the bus; what the node does is under it.
func (h *Holder) received(c *envelope.Call, size int) trace.Span {
	var span trace.Span
	c.Traceparent, span = h.Tracing.Continue(c.Traceparent, trace.SpanKindConsumer, "process "+envelope.CallTemplate)
	if span.IsRecording() {
		span.SetAttributes(
			attribute.String("messaging.system", "nats"),
			attribute.String("messaging.operation.name", "process"),
			attribute.String("messaging.operation.type", "process"),
			attribute.String("messaging.destination.template", envelope.CallTemplate),
			attribute.String("messaging.consumer.group.name", bus.HolderQueue),
			attribute.String("messaging.message.conversation_id", string(c.ID)),
			attribute.Int("messaging.message.body.size", size),
		)
	}
	return span
}

// onSocket begins the span of a call at its node, from its arrival here, waiting for a place included, to the node's answer. The
// node's own spans are under it, if the node is told about it. The sink ends it; there is none, nil, where nothing is recorded.
func (h *Holder) onSocket(c *envelope.Call, data []byte) *tracedSink {
	if h.Tracing == nil {
		return nil
	}
	const method = "tools/call"
	var span trace.Span
	c.Traceparent, span = h.Tracing.Continue(c.Traceparent, trace.SpanKindClient, method)
	if !span.IsRecording() {
		return nil
	}
	span.SetAttributes(
		attribute.String("network.protocol.name", "websocket"),
		attribute.String("hecaton.call.id", string(c.ID)),
	)
	if c.Kind == codec.ToolCall {
		span.SetAttributes(
			attribute.String("rpc.system", "jsonrpc"), attribute.String("rpc.method", method),
			attribute.String("mcp.method.name", method), attribute.String("gen_ai.tool.name", envelope.Tool(data)),
		)
	}
	return &tracedSink{span: span}
}

// tracedSink is a sink whose call has a span.
type tracedSink struct {
	calls.Sink
	span trace.Span
}

// name gives the span of a relayed call the dialect's own name; a tool call has its name already.
func (s *tracedSink) name(operation string) {
	if s != nil && operation != "" {
		s.span.SetName(operation)
	}
}

// Status implements [calls.Sink].
func (s *tracedSink) Status(status calls.Status) {
	switch status {
	case calls.Queued:
		s.span.AddEvent("queued")
	case calls.Sent:
		s.span.AddEvent("sent")
	case calls.Working:
	}
	s.Sink.Status(status)
}

// Done implements [calls.Sink].
func (s *tracedSink) Done(answer *frame.Buffer, err *errs.Error) {
	obs.Outcome(s.span, err)
	s.span.End()
	s.Sink.Done(answer, err)
}
