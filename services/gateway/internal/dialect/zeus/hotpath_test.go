package zeus

import (
	"strings"
	"testing"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/envelope"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/holder"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/dialect"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/calls"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/hub"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// sinkhole is the socket and the caller of calls whose bytes nobody looks at.
type sinkhole struct{}

func (sinkhole) Send([]byte, conn.Note) error { return nil }
func (sinkhole) Status(calls.Status)          {}
func (sinkhole) Progress([]byte)              {}
func (sinkhole) Done(b *frame.Buffer, err *errs.Error) {
	if err != nil {
		panic(err)
	}
	b.Release()
}

const callID = "550e8400-e29b-41d4-a716-446655440000"

func answer(size int) []byte {
	return []byte(`{"jsonrpc":"2.0","id":"` + callID + `","result":{"content":[{"type":"text","text":"` + strings.Repeat("x", size) + `"}]}}`)
}

// Calls and answers pass as the bytes that came (ADR 4).
func TestTheCodecCopiesNothing(t *testing.T) {

	s := &nodeSession{kind: extension}
	call := jsonrpc.Call{ID: callID, Tool: "click"}.Append(nil)
	wire, err := s.Call(codec.Call{ID: callID, Frame: call, Node: &nodev1.NodeInfo{}})
	if err != nil || &wire.Frame[0] != &call[0] || len(wire.Frame) != len(call) {
		t.Errorf("the node reads %q, %v", wire.Frame, err)
	}
	b := frame.Wrap(answer(100))
	if m := s.Read(b); m.Means != codec.Answer || m.Call != callID || m.Answer != b {
		t.Errorf("the answer became %+v", m)
	}
	if n := testing.AllocsPerRun(100, func() { s.Read(b) }); n > 1 { // the call's id
		t.Errorf("to read an answer takes %v allocations", n)
	}
}

func BenchmarkCallAndAnswer(b *testing.B) {
	for name, size := range map[string]int{"200B": 100, "200KiB": 200 << 10} {
		b.Run(name, func(b *testing.B) {
			h := &holder.Holder{Config: holder.Config{Hub: hub.New(), MaxFrame: 10 << 20}}
			var s dialect.Session = &nodeSession{kind: extension}
			info := &nodev1.NodeInfo{NodeId: "ext", MaxConcurrentTasks: 3}
			n := hub.NewNode("ana", "extension", info, &conn.Conn{}, s.(codec.Codec))
			n.Calls = calls.New(sinkhole{}, s.(codec.Codec), 3)
			h.Hub.Add(n)
			call := jsonrpc.Call{ID: callID, Tool: "click", Arguments: []byte(`{"x":1}`)}.Append(nil)
			answer := answer(size)
			env := envelope.Call{ID: callID, Deadline: time.Now().Add(time.Hour)}
			key := ids.Node{User: "ana", Node: "ext"}
			b.ReportAllocs()
			for b.Loop() {
				h.Deliver(key, env, call, sinkhole{})
				m := s.Read(frame.Wrap(answer))
				if !n.Calls.Answer(m.Call, m.Answer) {
					b.Fatal("nobody waited")
				}
			}
		})
	}
}
