package agent

import (
	"context"
	"errors"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/journal"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/agent/prompt"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/tool"
)

// Invoke begins a run and returns once its beginning is stored; the run goes on without the caller. With an idempotency key that has begun a
// run before, that run is returned. The error is a *errs.Error: MODEL_MISSING, ADDRESS_REFUSED,
// INVALID_ARGUMENT, SKILL_UNAVAILABLE, KNOWLEDGE_BASE_NOT_FOUND, KNOWLEDGE_UNAVAILABLE, RUN_ACTIVE, INTERRUPTED or
// AGENT_UNAVAILABLE.
func (e *Engine) Invoke(ctx context.Context, user ids.UserID, req *agentv1.InvokeRequest) (Started, error) {
	s := newSettings(ctx, req)
	at, window, err := endpointOf(e.cfg, e.deps.Addresses, s.Invoke.GetModel())
	if err != nil {
		return Started{}, err
	}
	switch s.mode() {
	case tool.ModeAgent, tool.ModeAsk, tool.ModePlan:
	default:
		return Started{}, errs.New(errs.InvalidArgument, "mode must be one of %q, %q, %q", tool.ModeAgent, tool.ModeAsk, tool.ModePlan)
	}
	if err := e.checkSkills(ctx, user, s.Invoke.GetSkills()); err != nil {
		return Started{}, err
	}
	if err := e.checkKnowledge(ctx, user, req.GetKnowledgeBaseIds()); err != nil {
		return Started{}, err
	}
	sealed, err := sealSettings(e.deps.Sealer, user, s)
	if err != nil {
		return Started{}, err
	}
	full, err := e.places.reserve(user)
	if err != nil {
		return Started{}, err
	}
	session := ids.SessionID(req.GetSessionId())
	if session == "" {
		session = newSession()
	}
	r := newRun(e.parts, store.Lease{Ref: store.Ref{User: user, Session: session}, Run: newRunID()}, &s)
	begin := store.Begin{
		Ref: r.lease.Ref, Run: r.lease.Run, Owner: e.cfg.Owner, TTL: e.cfg.LeaseFor,
		Title: tool.FirstWords(req.GetMessage(), journal.SummaryBytes), Mode: s.mode(), Settings: sealed,
		Message: tool.CleanText(req.GetMessage()), History: history(req.GetChatHistory()), IdempotencyKey: req.GetIdempotencyKey(),
		MaxRuns: e.cfg.RunsPerUser, Full: full,
	}
	// While the beginning of the run is stored, its tools are looked up, and the model is asked already: see headStart.
	r.toolset.gather()
	r.briefing.gather()
	r.head = newHeadStart(&r.environment, e.frames, begin, at, window)
	lease, state, err := e.deps.Journal.Begin(ctx, begin)
	if err != nil {
		e.table.abandon(r)
		var before *store.AlreadyBegun
		if errors.As(err, &before) {
			return Started{Ref: before.Ref, Run: before.Run, After: before.FirstSeq - 1, Before: true}, nil
		}
		return Started{}, err
	}
	r.lease = lease
	e.metrics.starts.WithLabelValues(causeInvoke).Inc()
	e.table.launch(r, state)
	return Started{Ref: lease.Ref, Run: lease.Run, After: state.LastSeq}, nil
}

// checkKnowledge refuses knowledge bases that are not the user's, before anything begins.
func (e *Engine) checkKnowledge(ctx context.Context, user ids.UserID, bases []string) error {
	switch {
	case len(bases) == 0:
		return nil
	case e.deps.Knowledge == nil:
		return errs.New(errs.KnowledgeUnavailable, "there is no knowledge service here")
	}
	return e.deps.Knowledge.Check(ctx, user, bases)
}

// history is what the client knows about a conversation of which the server has nothing.
func history(messages []*agentv1.ChatMessage) []store.Message {
	if len(messages) > prompt.HistoryMessages {
		messages = messages[len(messages)-prompt.HistoryMessages:]
	}
	out := make([]store.Message, 0, len(messages))
	for _, m := range messages {
		role := store.RoleUser
		if m.GetRole() == store.RoleAssistant {
			role = store.RoleAssistant
		}
		out = append(out, store.Message{Role: role, Content: tool.CleanText(m.GetContent())})
	}
	return out
}
