package toolapi

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/router"
)

// Field numbers of hecaton.tool.v1, as answerMessage writes them.
const (
	fieldAnswerNode   = 1 // Answer.node_id
	fieldAnswerResult = 2 // Answer.result_json
	fieldAnswerError  = 3 // Answer.error_json

	fieldCallToolAnswer = 1 // CallToolResponse.answer
	fieldStreamAnswer   = 2 // CallToolStreamResponse.answer
	fieldCallsID        = 1 // CallsResponse.id
	fieldCallsAnswer    = 3 // CallsResponse.answer
)

// answerMessage is a response that holds an Answer, encoded when gRPC asks for it. The codec takes over the answer's
// reference.
type answerMessage struct {
	answer *router.Answer
	field  protowire.Number // of the Answer in the response
	callID uint64           // CallsResponse.id; 0 in the other responses
}

// encode returns the message in two parts: a head of our own and the node's bytes by reference.
func (m *answerMessage) encode() mem.BufferSlice {
	a := m.answer
	field, body := protowire.Number(fieldAnswerResult), a.Result
	if a.Error != nil {
		field, body = fieldAnswerError, a.Error
	}
	inner := protowire.SizeTag(fieldAnswerNode) + protowire.SizeBytes(len(a.Node)) +
		protowire.SizeTag(field) + protowire.SizeBytes(len(body))
	head := make([]byte, 0, 40+len(a.Node))
	if m.callID != 0 {
		head = protowire.AppendTag(head, fieldCallsID, protowire.VarintType)
		head = protowire.AppendVarint(head, m.callID)
	}
	head = protowire.AppendTag(head, m.field, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(inner))
	head = protowire.AppendTag(head, fieldAnswerNode, protowire.BytesType)
	head = protowire.AppendString(head, string(a.Node))
	head = protowire.AppendTag(head, field, protowire.BytesType)
	head = protowire.AppendVarint(head, uint64(len(body)))
	if len(body) < small {
		defer a.Release()
		return mem.BufferSlice{mem.SliceBuffer(append(head, body...))}
	}
	return mem.BufferSlice{mem.SliceBuffer(head), a.Frame.Mem(body)}
}

// small is the size below which copying is cheaper than another buffer.
const small = 2 << 10

// Codec is the protobuf codec of the gateway's gRPC server; it encodes answers by reference.
type Codec struct{ encoding.CodecV2 }

// NewCodec returns the codec for grpc.ForceServerCodecV2.
func NewCodec() Codec { return Codec{encoding.GetCodecV2(proto.Name)} }

// Marshal implements [encoding.CodecV2].
func (c Codec) Marshal(v any) (mem.BufferSlice, error) {
	if m, ok := v.(*answerMessage); ok {
		return m.encode(), nil
	}
	return c.CodecV2.Marshal(v)
}
