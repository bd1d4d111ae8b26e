package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	protobuf "google.golang.org/protobuf/proto"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// reply is a response of either way, of which a caller reads only the size. Decoding and copying 200 KiB for each call
// would use as much processor time as everything that is measured.
type reply struct {
	// id is CallsResponse.id; 0 in other messages.
	id uint64
	// size is that of Answer.result_json.
	size int
}

// callToolReply is a reply in a CallToolResponse.
type callToolReply struct{ reply }

// codec is gRPC's protobuf codec, but for replies.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(proto.Name)} }

// Unmarshal implements [encoding.CodecV2].
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	r, ok := v.(interface{ read(*mem.Reader) error })
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	in := data.Reader()
	err := r.read(in)
	return errors.Join(err, in.Close())
}

// Field numbers of hecaton.tool.v1.
const (
	fieldID      = 1 // CallsResponse.id
	fieldAnswer  = 3 // CallsResponse.answer
	fieldFailure = 4 // CallsResponse.failure
	fieldNode    = 1 // Answer.node_id
	fieldResult  = 2 // Answer.result_json
	fieldInner   = 1 // CallToolResponse.answer
)

var errReply = errors.New("a reply without a result")

// read reads a CallsResponse, which begins with its id, or an Answer.
func (r *reply) read(in *mem.Reader) error {
	num, typ, err := tag(in)
	switch {
	case err != nil:
		return err
	case typ != protowire.VarintType:
		return r.answer(in, num, typ)
	case num != fieldID:
		return errReply
	}
	if r.id, err = binary.ReadUvarint(in); err != nil {
		return err
	}
	if num, _, err = tag(in); err != nil {
		return err
	}
	if _, err = binary.ReadUvarint(in); err != nil { // the length of all that follows
		return err
	}
	switch num {
	case fieldAnswer:
		if num, typ, err = tag(in); err != nil {
			return err
		}
		return r.answer(in, num, typ)
	case fieldFailure:
		return failed(in)
	}
	return errReply
}

// read reads a CallToolResponse.
func (r *callToolReply) read(in *mem.Reader) error {
	num, typ, err := tag(in)
	if err != nil {
		return err
	}
	if num != fieldInner || typ != protowire.BytesType {
		return errReply
	}
	if _, err = binary.ReadUvarint(in); err != nil { // the length of all that follows
		return err
	}
	if num, typ, err = tag(in); err != nil {
		return err
	}
	return r.answer(in, num, typ)
}

// answer reads an Answer whose first tag has been read.
func (r *reply) answer(in *mem.Reader, num protowire.Number, typ protowire.Type) error {
	for {
		if typ != protowire.BytesType || num != fieldNode && num != fieldResult {
			return errReply
		}
		n, err := binary.ReadUvarint(in)
		if err != nil {
			return err
		}
		if num == fieldResult {
			r.size = int(n)
		}
		if _, err := in.Discard(int(n)); err != nil {
			return err
		}
		if in.Remaining() == 0 {
			break
		}
		if num, typ, err = tag(in); err != nil {
			return err
		}
	}
	if r.size == 0 {
		return errReply
	}
	return nil
}

func tag(in *mem.Reader) (protowire.Number, protowire.Type, error) {
	v, err := binary.ReadUvarint(in)
	num, typ := protowire.DecodeTag(v)
	return num, typ, err
}

// failed returns the failure that stands in the rest of a CallsResponse.
func failed(in *mem.Reader) error {
	raw, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	f := new(toolv1.Failure)
	if err := protobuf.Unmarshal(raw, f); err != nil {
		return err
	}
	return fmt.Errorf("%s: %s", f.GetReason(), f.GetMessage())
}
