package dialect

import (
	"github.com/hecaton-dev/hecaton/services/gateway/internal/held/codec"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/socket/frame"
)

// handle takes one frame, and reports whether somebody waited for it.
func (c *Client) handle(b *frame.Buffer) (asked bool) {
	c.seat.account.PayAndWait(c.door.ctx, len(b.Bytes()))
	m := c.session.Read(b)
	switch m.Means {
	case codec.Answer:
		return c.answer(m, b)
	case codec.Other:
		return c.session.Take(m, b)
	}
	asked = c.note(m)
	b.Release()
	return asked
}

// answer hands an answer to its call.
func (c *Client) answer(m codec.Message, b *frame.Buffer) (asked bool) {
	if m.Answer != b {
		defer b.Release()
	}
	m.Answer.Retain()
	defer m.Answer.Release()
	if asked = c.node.Calls.Answer(m.Call, m.Answer); !asked {
		c.door.Metrics.LateAnswers.Inc()
		return false
	}
	c.door.Pictures.Note(c.node, m.Answer) // once the answer is on its way
	return true
}

// note does what a message asks for that ends no call.
func (c *Client) note(m codec.Message) (asked bool) {
	switch m.Means {
	case codec.Progress:
		return c.node.Calls.Progress(m.Call, m.Params)
	case codec.Register:
		c.register(m)
		return false
	case codec.Status:
		c.node.SetLoad(m.Status, m.Tasks)
	case codec.Malformed:
		c.door.Metrics.Frames.WithLabelValues("malformed").Inc()
	case codec.Unknown:
		c.door.Metrics.Frames.WithLabelValues("unknown").Inc()
	}
	if m.Reply != nil {
		c.Send(m.Reply)
	}
	return false
}

// register tells the cluster what the node says of itself, and the node that it did.
func (c *Client) register(m codec.Message) {
	said := m.Registration
	if err := c.door.Holder.Update(c.door.ctx, c.node, said.Info, said.Tools); err != nil {
		c.refused(err)
		return
	}
	c.Send(m.Reply)
	if said.Remark != nil {
		c.door.Metrics.ToolsRefused.Add(float64(said.Refused))
		c.door.Logger.Info("definitions of a node's tools were refused", "user", c.User, "node", said.Info.GetNodeId(), "refused", said.Refused)
		c.Send(said.Remark)
	}
}
