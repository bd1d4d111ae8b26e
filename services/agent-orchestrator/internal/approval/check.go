package approval

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// What a person, or time, decided (docs/protocols/zeus-agents.md#resume).
const (
	Approved = "approved"
	Rejected = "rejected"
	Modified = "modified"
	Timeout  = "timeout"
)

// Check matches decisions with the calls that wait, and returns those calls as they go on: Ready, with what was decided.
// Calls that do not wait are neither needed nor returned. now is the store's time.
//
// Each waiting call needs exactly one decision. The error is a *[errs.Error]: UNKNOWN_CALL for a decision about
// something else, ALREADY_DECIDED for one about a call that was decided before, MISSING_DECISION, INVALID_DECISION for two
// about one call, another tool's name, an unknown decision or arguments that do not fit it, DIGEST_DIFFERS, and
// APPROVAL_EXPIRED for anything but "timeout" after a call's time. Nothing is decided then. "timeout" before that is a
// client whose own patience ended, and taken.
func Check(
	session ids.SessionID, calls []store.Call, decisions []*agentv1.ToolCallDecision, now time.Time,
) ([]store.Call, error) {
	byCall := make(map[string]*agentv1.ToolCallDecision, len(decisions))
	for _, d := range decisions {
		if err := known(calls, d.GetToolCallId()); err != nil {
			return nil, err
		}
		if byCall[d.GetToolCallId()] != nil {
			return nil, errs.New(errs.InvalidDecision, "call %q has two decisions", d.GetToolCallId())
		}
		byCall[d.GetToolCallId()] = d
	}
	var decided []store.Call
	for _, c := range calls {
		if c.State != store.Waiting {
			continue
		}
		d := byCall[c.ID]
		if d == nil {
			return nil, errs.New(errs.MissingDecision, "call %q has no decision; every call that waits needs one", c.ID)
		}
		next, err := decide(session, c, d, now)
		if err != nil {
			return nil, err
		}
		decided = append(decided, next)
	}
	return decided, nil
}

// known reports whether a call waits for a decision, and why not.
func known(calls []store.Call, id string) error {
	i := slices.IndexFunc(calls, func(c store.Call) bool { return c.ID == id })
	switch {
	case i < 0 || calls[i].State != store.Waiting && calls[i].Decision == "":
		return errs.New(errs.UnknownCall, "no call %q waits for a decision", id)
	case calls[i].State != store.Waiting:
		return errs.New(errs.AlreadyDecided, "call %q was decided before", id)
	}
	return nil
}

func decide(session ids.SessionID, c store.Call, d *agentv1.ToolCallDecision, now time.Time) (store.Call, error) {
	if d.GetToolName() != "" && d.GetToolName() != c.Tool {
		return c, errs.New(errs.InvalidDecision, "call %q is of tool %q", c.ID, c.Tool)
	}
	if Expired(c, now) && d.GetDecision() != Timeout {
		return c, errs.New(errs.ApprovalExpired, "the time to decide about call %q is over", c.ID)
	}
	if d.GetDigest() != "" && d.GetDigest() != c.Digest {
		return c, errs.New(errs.DigestDiffers, "the digest is not that of call %q", c.ID)
	}
	switch d.GetDecision() {
	case Approved:
		if len(d.GetToolArgsJson()) > 0 && !sameObject(d.GetToolArgsJson(), c.Args) {
			return c, errs.New(errs.InvalidDecision,
				"tool_args of call %q are not those that were shown; changing them is the decision %q", c.ID, Modified)
		}
	case Modified:
		if _, err := Canonical(d.GetToolArgsJson()); err != nil {
			return c, errs.New(errs.InvalidDecision, "tool_args of call %q must be a JSON object: %v", c.ID, err)
		}
		c.Args = d.GetToolArgsJson()
		c.Digest = Digest(session, c.ID, c.Tool, c.Args, c.Node, c.NodeMark)
	case Rejected:
		c.Reason = d.GetReason()
	case Timeout:
	default:
		return c, errs.New(errs.InvalidDecision, "decision of call %q must be one of %q, %q, %q, %q",
			c.ID, Approved, Rejected, Modified, Timeout)
	}
	return settle(c, d.GetDecision(), now), nil
}

func settle(c store.Call, decision string, now time.Time) store.Call {
	c.State, c.Decision, c.Decided, c.Expires = store.Ready, decision, now, time.Time{}
	return c
}

// Expired reports whether the time to decide about a call is over.
func Expired(c store.Call, now time.Time) bool {
	return c.State == store.Waiting && !c.Expires.IsZero() && !now.Before(c.Expires)
}

// sameObject reports whether a JSON object that a client sends back is the one that it was shown. Clients in JavaScript write
// 1.0 as 1, and keep no number more exactly than a float64; what runs is what was shown, not what they send.
func sameObject(back, shown []byte) bool {
	one, errBack := Canonical(back)
	two, errShown := Canonical(shown)
	if errBack != nil || errShown != nil {
		return bytes.Equal(back, shown)
	}
	if bytes.Equal(one, two) {
		return true
	}
	var a, b map[string]any
	return json.Unmarshal(one, &a) == nil && json.Unmarshal(two, &b) == nil && reflect.DeepEqual(a, b)
}
