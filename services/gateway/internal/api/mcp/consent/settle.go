package consent

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/mcp/catalogue"
)

// Reasons of calls that were not admitted, as `_meta` has them.
const (
	// Required: the person has to approve the call first.
	Required = "APPROVAL_REQUIRED"
	// Refused: the person has rejected it, or its approval is used up.
	Refused = "APPROVAL_REFUSED"
)

// attempt asks whether a call may run. A nil admission means that the call was made.
type attempt func(context.Context, *agentv1.Consent) (*agentv1.Admission, error)

// settle has a call decided, by the rules or by its person. What its person takes is added to its deadline.
func (k *Keeper) settle(ctx context.Context, c *catalogue.Call, try attempt) (*agentv1.Admission, error) {
	id, _ := strings.CutPrefix(c.State, statePrefix)
	consent := k.consent(id)
	asking := question{k: k, c: c}
	defer asking.end()
	for {
		a, err := try(ctx, consent)
		switch {
		case err != nil:
			return nil, err
		case a.GetVerdict() == agentv1.Admission_VERDICT_REFUSED:
			return nil, &catalogue.Unanswered{Message: "the call may not run: " + a.GetReason(), Outcome: errs.NotDelivered, Reason: Refused}
		case a.GetVerdict() != agentv1.Admission_VERDICT_ASK && asking.waited:
			return a, c.Wait(ctx, "")
		case a.GetVerdict() != agentv1.Admission_VERDICT_ASK:
			return a, nil
		}
		began := time.Now()
		if consent, err = asking.next(ctx, a.GetApproval()); err != nil {
			return nil, err
		}
		c.Deadline = c.Deadline.Add(time.Since(began))
	}
}

func (k *Keeper) consent(id string) *agentv1.Consent {
	return &agentv1.Consent{ApprovalId: id, AskNewUsers: k.askNew}
}

// refusal is what becomes of a call about which nothing could be found out: it does not run.
func (k *Keeper) refusal(err error) error {
	if !unavailable(err) {
		return err
	}
	k.log.Warn("calls of MCP clients do not run, since their users' approval settings cannot be read", "error", err)
	return &catalogue.Unanswered{
		Message: "whether the call needs the user's approval cannot be found out right now", Outcome: errs.NotDelivered, Reason: string(errs.AgentUnavailable),
	}
}

// unavailable reports whether an error says nothing about the call itself.
func unavailable(err error) bool {
	var reasoned *errs.Error
	var ended *catalogue.Unanswered
	var asked *catalogue.Asked
	switch {
	case errors.As(err, &ended), errors.As(err, &asked):
		return false
	case errors.As(err, &reasoned):
		return reasoned.Reason == errs.AgentUnavailable
	}
	return true
}
