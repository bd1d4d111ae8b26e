package agent

import (
	"context"
	"errors"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/approval"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// Resume decides what an interrupted run waits for, and works on it here from now on. The error is a *errs.Error:
// SESSION_NOT_FOUND, NOT_INTERRUPTED, RUN_ACTIVE, ALREADY_DECIDED, what approval.Check returns, or AGENT_UNAVAILABLE. Then
// nothing was decided.
func (e *Engine) Resume(ctx context.Context, user ids.UserID, req *agentv1.ResumeRequest) (Started, error) {
	ref := store.Ref{User: user, Session: ids.SessionID(req.GetSessionId())}
	state, err := e.deps.Journal.Load(ctx, ref)
	if err != nil {
		return Started{}, err
	}
	decide, s, err := e.decide(ctx, state, req)
	if err != nil {
		return Started{}, err
	}
	if decide.Full, err = e.places.reserve(user); err != nil {
		return Started{}, err
	}
	lease, after, err := e.deps.Journal.Decide(ctx, decide)
	if err != nil {
		e.places.leave(user)
		return Started{}, err
	}
	e.metrics.starts.WithLabelValues(causeResume).Inc()
	e.table.launch(newRun(e.parts, lease, &s), after)
	return Started{Ref: ref, Run: lease.Run, After: after.LastSeq}, nil
}

// decide checks a resume against what waits.
func (e *Engine) decide(ctx context.Context, state store.State, req *agentv1.ResumeRequest) (store.Decide, settings, error) {
	ref := state.Session.Ref
	refuse := func(err error) (store.Decide, settings, error) {
		return store.Decide{}, settings{}, e.orDecidedBefore(ctx, ref, req, err)
	}
	switch {
	case state.Status == store.Running:
		return refuse(errs.New(errs.RunActive, "the run goes on; it waits for no decision"))
	case state.Interrupt == nil:
		return refuse(errs.New(errs.NotInterrupted, "the session waits for no decision"))
	}
	s, err := openSettings(e.deps.Sealer, ref.User, state.Run.Settings)
	if err != nil {
		return refuse(err)
	}
	s = s.resumed(ctx, req)
	if _, _, err := endpointOf(e.cfg, e.deps.Addresses, s.Invoke.GetModel()); err != nil {
		return refuse(err)
	}
	var calls []store.Call
	if state.Interrupt.GetReason() == reasonSelection {
		calls, err = selected(state, req)
		s.Invoke.PreferredNodeId = req.GetNodeId()
	} else {
		calls, err = approval.Check(ref.Session, state.AllCalls(), req.GetToolCallResults(), state.Now)
	}
	if err != nil {
		return refuse(err)
	}
	sealed, err := sealSettings(e.deps.Sealer, ref.User, s)
	if err != nil {
		return refuse(err)
	}
	return store.Decide{
		Ref: ref, Owner: e.cfg.Owner, TTL: e.cfg.LeaseFor, InterruptID: state.Interrupt.GetInterruptId(), Calls: calls, Settings: sealed,
		MaxRuns: e.cfg.RunsPerUser,
	}, s, nil
}

// orDecidedBefore returns ALREADY_DECIDED where the request names a call that was decided, now or long ago, and err's
// reason is one that says less.
func (e *Engine) orDecidedBefore(ctx context.Context, ref store.Ref, req *agentv1.ResumeRequest, err error) error {
	if len(req.GetToolCallResults()) == 0 ||
		!errors.Is(err, errs.RunActive) && !errors.Is(err, errs.NotInterrupted) && !errors.Is(err, errs.UnknownCall) {
		return err
	}
	names := make([]string, 0, len(req.GetToolCallResults()))
	for _, d := range req.GetToolCallResults() {
		names = append(names, d.GetToolCallId())
	}
	calls, lookup := e.deps.Decisions.CallsByID(ctx, ref, names)
	if lookup != nil {
		return lookup
	}
	for _, c := range calls {
		if c.Decision != "" {
			return errs.New(errs.AlreadyDecided, "call %q was decided before", c.ID)
		}
	}
	return err
}
