package agentapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/gateway/internal/api/edge"
)

// invoke starts a run and streams it.
func (a *API) invoke(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	body, err := edge.ReadJSON(r)
	if err != nil {
		return err
	}
	req, err := invokeRequest(body)
	if err != nil {
		return err
	}
	if req.IdempotencyKey, err = idempotencyKey(r); err != nil {
		return err
	}
	f := a.newFeed(agentv1.FollowRequest_UNTIL_RUN_ENDS, id.Ends(), func(ctx context.Context, _ bool) (source, error) {
		s, err := a.agent.Invoke(ctx, req)
		return accepted(s, err)
	})
	return a.stream(r.Context(), w, r, id.User, f, endsRun(req.GetOnDisconnect()))
}

func endsRun(d agentv1.InvokeRequest_OnDisconnect) bool {
	return d == agentv1.InvokeRequest_ON_DISCONNECT_CANCEL
}

// idempotencyKey is the client's name for its request, or one of ours: asked twice, an orchestrator starts one run.
func idempotencyKey(r *http.Request) (string, error) {
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		return key, ids.Check("Idempotency-Key", key)
	}
	return uuid.NewString(), nil
}

// resume hands in decisions and streams from there.
func (a *API) resume(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	body, err := edge.ReadJSON(r)
	if err != nil {
		return err
	}
	req, err := resumeRequest(body)
	if err != nil {
		return err
	}
	begin, err := a.resuming(auth.OnBehalf(r.Context(), id.User), req)
	if err != nil {
		return err
	}
	f := a.newFeed(agentv1.FollowRequest_UNTIL_RUN_ENDS, id.Ends(), begin)
	return a.stream(r.Context(), w, r, id.User, f, endsRun(req.GetOnDisconnect()))
}

// resuming hands in decisions.
func (a *API) resuming(ctx context.Context, req *agentv1.ResumeRequest) (opener, error) {
	// Where an orchestrator is lost that may have taken the decisions, what they led to is behind this number.
	session, err := a.agent.GetSession(ctx, &agentv1.GetSessionRequest{SessionId: req.GetSessionId()})
	if err != nil && !unreachable(err) {
		return nil, err
	}
	before := int64(session.GetSession().GetLastSeq())
	return func(ctx context.Context, again bool) (source, error) {
		s, err := a.agent.Resume(ctx, req)
		next, err := accepted(s, err)
		if again && before > 0 && taken(err) {
			return a.follow(ctx, req.GetSessionId(), before, agentv1.FollowRequest_UNTIL_RUN_ENDS)
		}
		return next, err
	}, nil
}

// taken reports whether decisions that are handed in again were taken the first time.
func taken(err error) bool {
	err = errs.FromGRPC(err)
	return errors.Is(err, errs.AlreadyDecided) || errors.Is(err, errs.RunActive) || errors.Is(err, errs.NotInterrupted)
}

// sessionEvents streams what was kept of a session, and then what happens.
func (a *API) sessionEvents(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	session := r.PathValue("id")
	if err := ids.Check("session_id", session); err != nil {
		return err
	}
	after, err := afterSeq(r)
	if err != nil {
		return err
	}
	until := agentv1.FollowRequest_UNTIL_FOREVER
	if raw := r.URL.Query().Get("follow"); raw != "" {
		forever, err := strconv.ParseBool(raw)
		if err != nil {
			return &edge.BadRequest{Message: "follow must be true or false"}
		}
		if !forever {
			until = agentv1.FollowRequest_UNTIL_LAST
		}
	}
	if r.Method == http.MethodHead {
		until = agentv1.FollowRequest_UNTIL_LAST
	}
	f := a.newFeed(until, id.Ends(), func(ctx context.Context, _ bool) (source, error) {
		return a.follow(ctx, session, after, until)
	})
	f.session, f.last, f.sent = session, after, after
	return a.stream(r.Context(), w, r, id.User, f, false)
}

// afterSeq reads where a client left off: its query, or what its EventSource remembers.
func afterSeq(r *http.Request) (int64, error) {
	name, raw := "after_seq", r.URL.Query().Get("after_seq")
	if raw == "" {
		name, raw = "Last-Event-ID", r.Header.Get("Last-Event-ID")
	}
	if raw == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || n < 0 {
		return 0, &edge.BadRequest{Message: name + " must be the number of an event"}
	}
	return n, nil
}
