package consent

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/tool/tooldef"
	"github.com/hecaton-dev/hecaton/pkg/transport/jsonrpc"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
)

// MetaApproval is the member of `_meta` that says where a call can be approved.
const MetaApproval = "dev.hecaton/approval"

const (
	// statePrefix begins the state of a call that was ended with the question: the approval's id follows. The state is sealed.
	statePrefix = "approval "
	// lookEvery is how often a call that waits looks whether it was decided, should the bus lose the word.
	lookEvery = 5 * time.Second
	// shown is how much of a call's arguments a person is shown in a question, in bytes.
	shown = 1 << 10
)

// question is what a call waits for: an answer of its client's person, or a decision that is made elsewhere. One goroutine uses it.
type question struct {
	// Static after construction.
	k *Keeper
	c *catalogue.Call

	about    *agentv1.CallApproval // nil before the first question
	answered chan said             // nil where nobody is asked, or the answer has come
	changed  <-chan struct{}
	cancel   func()
	stop     func()
	waited   bool // without its client
}

// said is the end of a question at the client.
type said struct {
	answer catalogue.Answer
	err    error
}

// begin asks about a call. The goroutine ends with the question's context, and end waits for it.
func (q *question) begin(ctx context.Context, w *agentv1.CallApproval) {
	q.end()
	q.about = w
	ctx, q.cancel = context.WithDeadline(ctx, w.GetExpiresAt().AsTime())
	q.changed, q.stop = q.k.watch(q.c.User)
	answered := make(chan said, 1)
	q.answered = answered
	go func() {
		answer, err := q.c.Ask(ctx, words(w))
		answered <- said{answer, err}
	}()
}

// end ends the question that is asked, if there is one.
func (q *question) end() {
	if q.about == nil {
		return
	}
	q.cancel()
	q.stop()
	if q.answered != nil {
		<-q.answered
	}
	q.about, q.answered = nil, nil
}

// next returns what to try once something is known of a call that waits. The error ends the call.
func (q *question) next(ctx context.Context, w *agentv1.CallApproval) (*agentv1.Consent, error) {
	if q.about.GetId() != w.GetId() {
		q.begin(ctx, w)
	}
	look := time.NewTimer(lookEvery)
	defer look.Stop()
	over := time.NewTimer(time.Until(w.GetExpiresAt().AsTime()))
	defer over.Stop()
	for {
		select {
		case s := <-q.answered:
			q.answered = nil
			switch {
			case s.err == nil:
				return q.take(s.answer)
			case errors.Is(s.err, catalogue.ErrCannotAsk) && q.c.Wait != nil:
				if q.c.Wait(ctx, "Waits for the user, who "+q.k.how(w)) != nil {
					return nil, q.k.required(w)
				}
				q.waited = true
			case errors.Is(s.err, catalogue.ErrCannotAsk):
				return nil, q.k.required(w)
			case errors.Is(s.err, context.DeadlineExceeded):
				return nil, undecided()
			default:
				return nil, s.err
			}
		case <-q.changed:
			return q.k.consent(w.GetId()), nil
		case <-look.C:
			return q.k.consent(w.GetId()), nil
		case <-over.C:
			return nil, undecided()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take makes a decision of the person's answer. What is no clear yes is a no; a question that was closed is neither.
func (q *question) take(answer catalogue.Answer) (*agentv1.Consent, error) {
	consent := q.k.consent(q.about.GetId())
	decision := jsonrpc.StringMember(answer.Content, "decision")
	switch {
	case answer.Action == catalogue.Accept && decision == "approve":
		consent.Decision = "approved"
	case answer.Action == catalogue.Accept:
		consent.Decision, consent.Reason = "rejected", strings.ToValidUTF8(cut(jsonrpc.StringMember(answer.Content, "reason")), "")
	case answer.Action == "decline":
		consent.Decision = "rejected"
	default:
		return nil, undecided()
	}
	return consent, nil
}

func cut(s string) string { return s[:min(len(s), shown)] }

func undecided() error {
	return &catalogue.Unanswered{Message: "the user did not decide about the call", Outcome: errs.NotDelivered, Reason: Required}
}

// words are the question for the person.
func words(w *agentv1.CallApproval) catalogue.Question {
	where := ""
	if w.GetNodeId() != "" {
		where = " on the device " + tooldef.Quote(w.GetNodeId(), 128)
	}
	return catalogue.Question{
		Key:     "approval-" + w.GetId(),
		Message: "The model wants to call " + tooldef.Quote(w.GetToolName(), 128) + where + " with " + tooldef.Quote(w.GetToolArgs(), shown) + " (" + w.GetWhy() + ").",
		Schema: []byte(`{"type":"object","properties":{"decision":{"type":"string","title":"Decision","enum":["approve","reject"]},` +
			`"reason":{"type":"string","title":"Why not"}},"required":["decision"]}`),
		State: statePrefix + w.GetId(),
	}
}

// path is where a decision is sent.
func (k *Keeper) path(w *agentv1.CallApproval) string {
	return k.address + "/api/approvals/" + w.GetId()
}

// how says what the user has to do.
func (k *Keeper) how(w *agentv1.CallApproval) string {
	return `approves it with "hecaton approvals approve ` + w.GetId() + `", or with POST ` + k.path(w) + ` {"decision":"approved"}`
}

// required is the end of a call whose client cannot ask.
func (k *Keeper) required(w *agentv1.CallApproval) error {
	meta := jsonrpc.AppendString([]byte(`"`+MetaApproval+`":{"id":`), w.GetId())
	meta = jsonrpc.AppendString(append(meta, `,"address":`...), k.path(w))
	meta = jsonrpc.AppendString(append(meta, `,"expires_at":`...), w.GetExpiresAt().AsTime().Format(time.RFC3339))
	return &catalogue.Unanswered{
		Message: "the call needs the user's approval first: " + w.GetWhy() + ". The user " + k.how(w) + ". Then call again with the same arguments",
		Outcome: errs.NotDelivered, Reason: Required, Meta: append(meta, '}'),
	}
}
