package agents

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	nodev1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/node/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
)

// statePrefix begins the state of a call that was ended with a question: the session that waits for the answer follows. The state is
// sealed, so it is known that it is this user's.
const statePrefix = "session "

// decide asks the person what a run waits for, and lets the run go on. The error is that of the question where there is no answer.
func (w *watch) decide(ctx context.Context) error {
	session, err := w.runs.Session(ctx, w.call.User, w.session)
	if err != nil {
		return err
	}
	interrupt := session.GetInterrupt()
	if interrupt == nil { // somebody else has decided meanwhile
		return w.join(ctx)
	}
	question := ask(interrupt)
	question.State = statePrefix + w.session
	answer, err := w.call.Ask(ctx, question)
	if err != nil {
		return err
	}
	err = w.runs.Resume(ctx, w.call.User, decided(w.session, interrupt, answer), w.hear)
	if errors.Is(err, errs.AlreadyDecided) || errors.Is(err, errs.NotInterrupted) || errors.Is(err, errs.RunActive) {
		return w.join(ctx) // somebody else was quicker
	}
	return err
}

// shown is how much of a call's arguments a person is shown, in bytes.
const shown = 1 << 10

// ask is the question about an interrupt. Its key names the interrupt: the answer to another one is none.
func ask(i *agentv1.Interrupt) catalogue.Question {
	if i.GetReason() == "node_selection" {
		return askNode("The agent can work with several devices. With which one shall it?", "node-"+i.GetInterruptId(), i.GetAvailableNodes())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The agent wants to make %d calls:", len(i.GetToolCalls()))
	if len(i.GetToolCalls()) == 1 {
		b.Reset()
		b.WriteString("The agent wants to make a call:")
	}
	for _, c := range i.GetToolCalls() {
		fmt.Fprintf(&b, "\n- %s", tooldef.Quote(c.GetToolName(), 128))
		if c.GetNodeId() != "" {
			fmt.Fprintf(&b, " on the device %s", tooldef.Quote(c.GetNodeId(), 128))
		}
		fmt.Fprintf(&b, " with %s", tooldef.Quote(string(c.GetToolArgsJson()), shown))
	}
	return catalogue.Question{
		Key: "approval-" + i.GetInterruptId(), Message: b.String(),
		Schema: []byte(`{"type":"object","properties":{"decision":{"type":"string","title":"Decision","enum":["approve","reject"]},` +
			`"reason":{"type":"string","title":"Why not"}},"required":["decision"]}`),
	}
}

// askNode is the question which of several devices is meant.
func askNode(message, key string, nodes []*nodev1.Node) catalogue.Question {
	schema := []byte(`{"type":"object","properties":{"node":{"type":"string","title":"Device","enum":[`)
	for n, node := range nodes {
		if n > 0 {
			schema = append(schema, ',')
		}
		schema = jsonrpc.AppendString(schema, node.GetInfo().GetNodeId())
	}
	return catalogue.Question{Key: key, Message: message, Schema: append(schema, `]}},"required":["node"]}`...)}
}

// decided is the person's answer as a run takes it. What is no clear yes is a no.
func decided(session string, i *agentv1.Interrupt, answer catalogue.Answer) *agentv1.ResumeRequest {
	req := &agentv1.ResumeRequest{SessionId: session}
	accepted := answer.Action == catalogue.Accept
	decision, reason := "rejected", "the person declined"
	switch {
	case i.GetReason() == "node_selection" && accepted:
		req.NodeId = jsonrpc.StringMember(answer.Content, "node")
		return req
	case accepted && jsonrpc.StringMember(answer.Content, "decision") == "approve":
		decision, reason = "approved", ""
	case accepted:
		reason = jsonrpc.StringMember(answer.Content, "reason")
	}
	for _, c := range i.GetToolCalls() {
		req.ToolCallResults = append(req.ToolCallResults, &agentv1.ToolCallDecision{
			ToolCallId: c.GetToolCallId(), ToolName: c.GetToolName(), Decision: decision, Reason: reason, Digest: c.GetDigest(),
		})
	}
	return req
}

// appendMember appends a number and one text member to an object that is begun, and closes it.
func appendMember(b []byte, n int64, name, text string) []byte {
	b = append(strconv.AppendInt(b, n, 10), `,"`...)
	return append(jsonrpc.AppendString(append(append(b, name...), `":`...), text), '}')
}
