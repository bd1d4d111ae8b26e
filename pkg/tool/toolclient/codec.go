package toolclient

import (
	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// response is a CallsResponse whose answer shares the bytes it came in: a large result is copied once, out of gRPC's
// buffers, where the generated code copies it twice.
type response struct {
	id       uint64
	progress *toolv1.Progress
	answer   *toolv1.Answer
	failure  *toolv1.Failure
}

// codec is gRPC's protobuf codec, but for a response.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(protocodec.Name)} }

// Unmarshal implements [encoding.CodecV2].
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if r, ok := v.(*response); ok {
		return r.decode(data.Materialize())
	}
	return c.CodecV2.Unmarshal(data, v)
}

// Field numbers of hecaton.tool.v1.
const (
	fieldID       protowire.Number = 1 // CallsResponse
	fieldProgress protowire.Number = 2
	fieldAnswer   protowire.Number = 3
	fieldFailure  protowire.Number = 4

	fieldNode   protowire.Number = 1 // Answer
	fieldResult protowire.Number = 2
	fieldError  protowire.Number = 3
)

// decode keeps data.
func (r *response) decode(data []byte) error {
	return fields(data, func(f protowire.Number, number uint64, raw []byte) error {
		switch {
		case f == fieldID && raw == nil:
			r.id = number
		case f == fieldProgress && raw != nil:
			r.progress = &toolv1.Progress{}
			return proto.Unmarshal(raw, r.progress)
		case f == fieldAnswer && raw != nil:
			r.answer = &toolv1.Answer{}
			return decodeAnswer(raw, r.answer)
		case f == fieldFailure && raw != nil:
			r.failure = &toolv1.Failure{}
			return proto.Unmarshal(raw, r.failure)
		}
		return nil
	})
}

func decodeAnswer(data []byte, a *toolv1.Answer) error {
	return fields(data, func(f protowire.Number, _ uint64, raw []byte) error {
		switch {
		case raw == nil:
		case f == fieldNode:
			a.NodeId = string(raw)
		case f == fieldResult:
			a.Outcome = &toolv1.Answer_ResultJson{ResultJson: raw}
		case f == fieldError:
			a.Outcome = &toolv1.Answer_ErrorJson{ErrorJson: raw}
		}
		return nil
	})
}

// fields calls each for every field of a message: with the value of a varint, or with the bytes, not nil, of a field that
// has a length. Fields of other types are left out, as are those that each does not know: they come from a newer gateway.
func fields(data []byte, each func(f protowire.Number, number uint64, raw []byte) error) error {
	for len(data) > 0 {
		f, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return protowire.ParseError(n)
		}
		data = data[n:]
		var err error
		switch kind {
		case protowire.VarintType:
			var number uint64
			if number, n = protowire.ConsumeVarint(data); n >= 0 {
				err = each(f, number, nil)
			}
		case protowire.BytesType:
			var raw []byte
			if raw, n = protowire.ConsumeBytes(data); n >= 0 {
				err = each(f, 0, raw[:len(raw):len(raw)])
			}
		default:
			n = protowire.ConsumeFieldValue(f, kind, data)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		if err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}
