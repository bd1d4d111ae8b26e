package admission

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/process/obs"
	"github.com/hecaton-dev/hecaton/pkg/process/options"
	"github.com/hecaton-dev/hecaton/pkg/transport/bus"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

const (
	// Life is how long the person has to decide, and then the caller to make the call.
	Life = 10 * time.Minute
	// shown is how much of a call's arguments is kept to be shown, in bytes.
	shown = 16 << 10
	// told bounds the wait until the bus has the word of a decision.
	told = time.Second
)

// Store keeps settings and approvals (package store).
type Store interface {
	approval.Pinner
	ApprovalSettings(ctx context.Context, user ids.UserID) (store.ApprovalSettings, error)
	WaitingCalls(ctx context.Context, user ids.UserID) ([]store.CallApproval, error)
	CallApproval(ctx context.Context, user ids.UserID, id string) (store.CallApproval, error)
	OpenApprovals(ctx context.Context, user ids.UserID, digest string) ([]store.CallApproval, error)
	AskApproval(ctx context.Context, a store.CallApproval) error
	MoveApproval(ctx context.Context, a store.CallApproval, from string) (moved bool, err error)
}

// Options are what an Admitter works with.
type Options struct {
	// Store is required.
	Store Store
	// Bus tells the gateways of decisions; nil where there is none.
	Bus *bus.Conn
	// Logger hears of decisions; nil discards.
	Logger *slog.Logger
}

// Admitter is safe for concurrent use.
type Admitter struct{ Options }

// New checks the options and returns an Admitter.
func New(o Options) (*Admitter, error) {
	if err := options.Require("admission", map[string]bool{"Store": o.Store == nil}); err != nil {
		return nil, err
	}
	o.Logger = obs.OrDiscard(o.Logger)
	return &Admitter{o}, nil
}

// Call is one that wants to run.
type Call struct {
	User ids.UserID
	Spec tool.Spec
	// At is the device; the zero Place for a tool that runs on none.
	At tool.Place
	// Args is a JSON object.
	Args []byte
}

// digest names the call.
func (c *Call) digest() string {
	mark := c.At.Mark
	if c.At.Node == "" {
		mark = c.Spec.Server + "|" + c.Spec.Provider + "|" + c.Spec.Fingerprint
	}
	return approval.Digest("", "", string(c.Spec.Layer)+"|"+c.name(), c.Args, c.At.Node, mark)
}

// name is what a person knows the tool by.
func (c *Call) name() string { return c.Spec.Name }

// Admit says what becomes of a call. Where it may run by an approval, this is used up.
func (a *Admitter) Admit(ctx context.Context, c Call, consent *agentv1.Consent) (*agentv1.Admission, error) {
	settings, err := a.Store.ApprovalSettings(ctx, c.User)
	if err != nil {
		return nil, err
	}
	if !settings.Chosen && !consent.GetAskNewUsers() {
		return &agentv1.Admission{
			Verdict: agentv1.Admission_VERDICT_RUN, Standing: agentv1.Admission_STANDING_USER, Reason: "you have chosen no approval settings",
		}, nil
	}
	policy := approval.Policy{RunMode: tool.ModeAgent, Mode: approval.Mode(settings.Mode), Allowed: settings.Allowed}
	d, err := policy.Decide(c.Spec, c.At).Pinned(ctx, a.Store, c.User, c.Spec, c.At)
	if err != nil {
		a.Logger.WarnContext(ctx, "a tool of the allow-list asks: its fingerprint could not be stored", "error", err)
	}
	switch d.Verdict {
	case approval.Run:
		standing := agentv1.Admission_STANDING_TOOL
		if policy.Mode == approval.RunEverything {
			standing = agentv1.Admission_STANDING_USER
		}
		return &agentv1.Admission{Verdict: agentv1.Admission_VERDICT_RUN, Standing: standing, Reason: d.Reason}, nil
	case approval.Refuse:
		return refused(d.Reason), nil
	case approval.Ask:
	}
	return a.decided(ctx, &c, consent, d.Reason)
}

// decided finds out what the person has decided about a call that asks.
func (a *Admitter) decided(ctx context.Context, c *Call, consent *agentv1.Consent, why string) (*agentv1.Admission, error) {
	found, err := a.find(ctx, c, consent.GetApprovalId())
	if err != nil {
		return nil, err
	}
	if found.Digest != c.digest() {
		// There is none, the device has connected anew, or the client brings the approval of another call.
		return a.ask(ctx, c, why)
	}
	if found.State == store.ApprovalWaiting && consent.GetApprovalId() != "" && consent.GetDecision() != "" {
		if found, err = a.decide(ctx, found, consent.GetDecision(), consent.GetReason()); err != nil {
			return nil, err
		}
	}
	switch found.State {
	case store.ApprovalWaiting:
		return asks(found), nil
	case store.ApprovalRejected:
		return refused(rejection(found)), nil
	case store.ApprovalApproved:
		used := found
		used.State = store.ApprovalUsed
		moved, err := a.Store.MoveApproval(ctx, used, store.ApprovalApproved)
		switch {
		case err != nil:
			return nil, err
		case moved:
			return &agentv1.Admission{
				Verdict: agentv1.Admission_VERDICT_RUN, Standing: agentv1.Admission_STANDING_CALL, Reason: "you approved it",
			}, nil
		case consent.GetApprovalId() == "": // another call of the same client was quicker
			return a.ask(ctx, c, why)
		}
	}
	return refused("its approval was used for a call already"), nil
}

// find returns the approval that a call brings, or one of the same call; the zero one for none.
func (a *Admitter) find(ctx context.Context, c *Call, id string) (store.CallApproval, error) {
	if id != "" {
		found, err := a.Store.CallApproval(ctx, c.User, id)
		if errors.Is(err, errs.ApprovalNotFound) { // expired: it is asked about anew
			return store.CallApproval{}, nil
		}
		return found, err
	}
	open, err := a.Store.OpenApprovals(ctx, c.User, c.digest())
	if err != nil || len(open) == 0 {
		return store.CallApproval{}, err
	}
	for _, found := range open {
		if found.State == store.ApprovalApproved {
			return found, nil
		}
	}
	return open[0], nil
}

// ask lets a call wait.
func (a *Admitter) ask(ctx context.Context, c *Call, why string) (*agentv1.Admission, error) {
	now := time.UnixMilli(time.Now().UnixMilli()) // as it is stored
	w := store.CallApproval{
		ID: "appr-" + strings.ToLower(rand.Text()), User: c.User, Digest: c.digest(), State: store.ApprovalWaiting, Tool: c.name(), Node: c.At.Node,
		Args: string(c.Args), Why: why, Created: now, Expires: now.Add(Life),
	}
	if len(w.Args) > shown {
		w.Args, w.Cut = strings.ToValidUTF8(w.Args[:shown], ""), true
	}
	if err := a.Store.AskApproval(ctx, w); err != nil {
		var full *errs.Error
		if errors.As(err, &full) && full.Reason == errs.LimitReached {
			return refused(full.Message), nil
		}
		return nil, err
	}
	return asks(w), nil
}

// decide notes a person's decision about a call that waits, and returns what holds now: somebody else may have been quicker.
func (a *Admitter) decide(ctx context.Context, w store.CallApproval, decision, reason string) (store.CallApproval, error) {
	next := w
	switch decision {
	case approval.Approved:
		next.State = store.ApprovalApproved
	case approval.Rejected:
		next.State, next.Reason = store.ApprovalRejected, reason
	default:
		return w, errs.New(errs.InvalidDecision, "decision must be one of %q, %q", approval.Approved, approval.Rejected)
	}
	next.Expires = time.UnixMilli(time.Now().Add(Life).UnixMilli())
	moved, err := a.Store.MoveApproval(ctx, next, store.ApprovalWaiting)
	switch {
	case err != nil:
		return w, err
	case !moved:
		return a.Store.CallApproval(ctx, w.User, w.ID)
	}
	a.Logger.InfoContext(ctx, "a user decided about a call", "approval", w.ID, "decision", decision)
	a.Tell(ctx, w.User)
	return next, nil
}

// Tell tells the gateways that something of a user's approvals has changed. It returns once the bus has the word.
func (a *Admitter) Tell(ctx context.Context, user ids.UserID) {
	if a.Bus == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), told)
	defer cancel()
	err := a.Bus.Publish(bus.ApprovalsSubject(user), nil)
	if err == nil {
		err = a.Bus.FlushWithContext(ctx)
	}
	if err != nil {
		a.Logger.WarnContext(ctx, "gateways were not told of changed approvals; they find out within seconds", "error", err)
	}
}

func refused(reason string) *agentv1.Admission {
	return &agentv1.Admission{Verdict: agentv1.Admission_VERDICT_REFUSED, Standing: agentv1.Admission_STANDING_CALL, Reason: reason}
}

func rejection(a store.CallApproval) string {
	if a.Reason == "" {
		return "the user rejected it: do not try it again"
	}
	return "the user rejected it: do not try it again. The reason is: " + a.Reason
}

func asks(a store.CallApproval) *agentv1.Admission {
	return &agentv1.Admission{
		Verdict: agentv1.Admission_VERDICT_ASK, Standing: agentv1.Admission_STANDING_CALL, Reason: a.Why, Approval: message(a),
	}
}
