package echotest

import (
	"bytes"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/app"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/cluster/fanout"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/dialect"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/conn"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// Path is where the dialect's clients connect.
const Path = "/ws/echo"

// Gateway returns a gateway that speaks the dialect, too.
func Gateway(cfg app.Config, opts app.Options) (*app.App, error) {
	opts.Dialects = append(opts.Dialects, dialect.Dialect{
		Name: "echo",
		Kinds: []*dialect.Kind{{
			Name: "echo", Path: Path, Type: nodev1.NodeType_NODE_TYPE_DESKTOP, Binary: true, MaxFrame: 1 << 20, Greet: greet,
		}},
		New: func(env dialect.Env) dialect.Protocol { return echo{env} },
	})
	return app.New(cfg, opts)
}

// Frame joins a letter and fields.
func Frame(letter byte, fields ...string) []byte {
	b := []byte{letter}
	for i, f := range fields {
		if i > 0 {
			b = append(b, 0)
		}
		b = append(b, f...)
	}
	return b
}

// Fields takes a frame of n fields apart; those that are missing are empty.
func Fields(b []byte, n int) (letter byte, fields []string) {
	fields = make([]string, n)
	if len(b) == 0 {
		return 0, fields
	}
	for i, f := range bytes.SplitN(b[1:], []byte{0}, n) {
		fields[i] = string(f)
	}
	return b[0], fields
}

// greet reads the first frame.
func greet(first []byte) (dialect.Identity, *dialect.Refusal) {
	letter, f := Fields(first, 2)
	if letter != 'H' || ids.Check("user", f[0]) != nil || ids.Check("node", f[1]) != nil {
		return dialect.Identity{}, &dialect.Refusal{Reason: conn.MissingID, Message: "the first frame must be H, a user and a node"}
	}
	return dialect.Identity{User: ids.UserID(f[0]), Node: ids.NodeID(f[1])}, nil
}

type echo struct{ dialect.Env }

// Session implements [dialect.Protocol].
func (e echo) Session(c *dialect.Client) dialect.Session { return &session{e, c} }

type session struct {
	echo
	c *dialect.Client
}

// Begin implements [dialect.Session].
func (s *session) Begin() error {
	info := &nodev1.NodeInfo{NodeId: string(s.c.Node), NodeType: s.c.Kind.Type, NodeName: "Echo", MaxConcurrentTasks: 2}
	if err := s.c.Hold(info, s); err != nil {
		return err
	}
	s.c.Send(Frame('W'))
	return nil
}

// Call implements [codec.Codec].
func (s *session) Call(c codec.Call) (codec.Wire, *errs.Error) {
	if c.Kind != codec.ToolCall {
		return codec.Wire{}, errs.New(errs.ToolNotOffered, "the node takes tool calls only")
	}
	f := jsonrpc.Locate(c.Frame)
	args := jsonrpc.RawMembers(f.Params, "arguments")["arguments"]
	return codec.Wire{Frame: Frame('C', string(c.ID), jsonrpc.StringMember(f.Params, "name"), string(args))}, nil
}

// Cancel implements [codec.Codec].
func (s *session) Cancel(id ids.CallID, _ string) []byte { return Frame('X', string(id)) }

// Forward implements [codec.Codec].
func (s *session) Forward([]byte, string, func([]byte) error) error {
	return errs.New(errs.ToolNotOffered, "the node takes tool calls only")
}

// Ping implements [codec.Reader].
func (s *session) Ping(time.Time) []byte { return Frame('P') }

// Read implements [codec.Reader].
func (s *session) Read(b *frame.Buffer) codec.Message {
	letter, f := Fields(b.Bytes(), 2)
	text := jsonrpc.AppendString(nil, f[1])
	switch letter {
	case 'P':
		return codec.Message{Means: codec.Alive}
	case 'A':
		answer := jsonrpc.AppendString([]byte(`{"jsonrpc":"2.0","id":`), f[0])
		answer = append(append(append(answer, `,"result":{"content":[{"type":"text","text":`...), text...), `}]}}`...)
		return codec.Message{Means: codec.Answer, Call: ids.CallID(f[0]), Answer: frame.Wrap(answer)}
	case 'N':
		params := append(append([]byte(`{"progress":1,"message":`), text...), '}')
		return codec.Message{Means: codec.Progress, Call: ids.CallID(f[0]), Params: params}
	case 'J', 'S':
		return codec.Message{Means: codec.Other, Type: string(letter), Name: f[0]}
	}
	return codec.Message{Means: codec.Unknown}
}

// Take implements [dialect.Session].
func (s *session) Take(m codec.Message, b *frame.Buffer) (asked bool) {
	defer b.Release()
	room := fanout.Of("room", m.Name)
	if m.Type == "J" {
		if s.c.Follow(room) == nil {
			s.c.Send(Frame('J', m.Name))
		}
		return false
	}
	_, f := Fields(b.Bytes(), 2)
	_ = s.Fanout.ToAll(room, Frame('S', f[1])) // the test sees whether it comes
	return false
}
