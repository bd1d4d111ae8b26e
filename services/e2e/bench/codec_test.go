package main

import (
	"strings"
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	toolv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/tool/v1"
)

// pieces cuts a message up as the transport may.
func pieces(t testing.TB, m proto.Message, size int) mem.BufferSlice {
	t.Helper()
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var s mem.BufferSlice
	for len(raw) > size {
		s, raw = append(s, mem.SliceBuffer(raw[:size])), raw[size:]
	}
	return append(s, mem.SliceBuffer(raw))
}

func answered(node, result string) *toolv1.Answer {
	return &toolv1.Answer{NodeId: node, Outcome: &toolv1.Answer_ResultJson{ResultJson: []byte(result)}}
}

func TestCodecReadsSizes(t *testing.T) {
	t.Parallel()
	result := strings.Repeat("x", 70_000)
	call := &toolv1.CallsResponse{Id: 300, Event: &toolv1.CallsResponse_Answer{Answer: answered("node-1", result)}}
	for _, size := range []int{1, 7, 16 << 10, 1 << 20} {
		var r reply
		if err := newCodec().Unmarshal(pieces(t, call, size), &r); err != nil || r.id != 300 || r.size != len(result) {
			t.Errorf("pieces of %d: %+v, %v", size, r, err)
		}
		r = reply{}
		if err := newCodec().Unmarshal(pieces(t, answered("", result), size), &r); err != nil || r.id != 0 || r.size != len(result) {
			t.Errorf("pieces of %d: %+v, %v", size, r, err)
		}
		var c callToolReply
		response := &toolv1.CallToolResponse{Answer: answered("node-1", result)}
		if err := newCodec().Unmarshal(pieces(t, response, size), &c); err != nil || c.size != len(result) {
			t.Errorf("pieces of %d: %+v, %v", size, c, err)
		}
	}
}

func TestCodecRefusesWhatIsNoResult(t *testing.T) {
	t.Parallel()
	fail := &toolv1.CallsResponse{Id: 1, Event: &toolv1.CallsResponse_Failure{Failure: &toolv1.Failure{Reason: "NODE_BUSY", Message: "so"}}}
	progress := &toolv1.CallsResponse{Id: 1, Event: &toolv1.CallsResponse_Progress{Progress: &toolv1.Progress{Progress: 1}}}
	broken := &toolv1.Answer{Outcome: &toolv1.Answer_ErrorJson{ErrorJson: []byte("{}")}}
	for want, m := range map[string]proto.Message{"NODE_BUSY: so": fail, "without a result": progress, errReply.Error(): broken} {
		if err := newCodec().Unmarshal(pieces(t, m, 3), new(reply)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", m, err)
		}
	}
	whole := pieces(t, answered("n", "result"), 1)
	if err := newCodec().Unmarshal(whole[:len(whole)-2], new(reply)); err == nil {
		t.Error("no error for half a message")
	}
	for _, r := range []any{new(reply), new(callToolReply)} {
		if err := newCodec().Unmarshal(nil, r); err == nil {
			t.Errorf("no error for nothing in a %T", r)
		}
	}
}

func TestCodecLeavesOtherMessagesAlone(t *testing.T) {
	t.Parallel()
	got := new(toolv1.Answer)
	if err := newCodec().Unmarshal(pieces(t, answered("n", "result"), 4), got); err != nil || string(got.GetResultJson()) != "result" {
		t.Error(got, err)
	}
}

func FuzzReply(f *testing.F) {
	for _, m := range []proto.Message{answered("n", "r"), &toolv1.CallsResponse{Id: 9, Event: &toolv1.CallsResponse_Answer{Answer: answered("n", "r")}}} {
		raw, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(_ *testing.T, raw []byte) {
		_ = newCodec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(raw)}, new(reply)) // must not panic
		_ = newCodec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(raw)}, new(callToolReply))
	})
}
