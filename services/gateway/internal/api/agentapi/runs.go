package agentapi

import (
	"context"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
	"github.com/hecaton-dev/hecaton/pkg/security/auth"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// This file is for other ways into the pod, which show runs in other forms than the events of this API.

// Invoke starts a run in a user's name and hands its events to each until it is complete, however many orchestrators are lost
// meanwhile. req has an idempotency key. The error is the refusal, ctx's, or that the rest of the events cannot be had.
func (a *API) Invoke(ctx context.Context, user ids.UserID, req *agentv1.InvokeRequest, each func(*agentv1.Event)) error {
	return a.listen(ctx, user, func(ctx context.Context, _ bool) (source, error) {
		s, err := a.agent.Invoke(ctx, req)
		return accepted(s, err)
	}, each)
}

// Resume is [API.Invoke] for decisions that a run waits for.
func (a *API) Resume(ctx context.Context, user ids.UserID, req *agentv1.ResumeRequest, each func(*agentv1.Event)) error {
	begin, err := a.resuming(auth.OnBehalf(ctx, user), req)
	if err != nil {
		return err
	}
	return a.listen(ctx, user, begin, each)
}

// Follow is [API.Invoke] for a run that has begun: the events behind a number, to the next `complete`.
func (a *API) Follow(ctx context.Context, user ids.UserID, session string, after int64, each func(*agentv1.Event)) error {
	return a.listen(ctx, user, func(ctx context.Context, _ bool) (source, error) {
		return a.follow(ctx, session, after, agentv1.FollowRequest_UNTIL_RUN_ENDS)
	}, each)
}

// Session returns one session of a user.
func (a *API) Session(ctx context.Context, user ids.UserID, session string) (*agentv1.Session, error) {
	resp, err := a.agent.GetSession(auth.OnBehalf(ctx, user), &agentv1.GetSessionRequest{SessionId: session})
	return resp.GetSession(), errs.FromGRPC(err)
}

// Cancel ends the run of a session, also where ctx has ended.
func (a *API) Cancel(ctx context.Context, user ids.UserID, session string) {
	a.cancelRun(auth.OnBehalf(ctx, user), session)
}

func (a *API) listen(ctx context.Context, user ids.UserID, begin opener, each func(*agentv1.Event)) error {
	ctx, cancel := context.WithCancel(auth.OnBehalf(ctx, user))
	defer cancel()
	f := a.newFeed(agentv1.FollowRequest_UNTIL_RUN_ENDS, time.Time{}, begin)
	if err := f.open(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errs.FromGRPC(err)
	}
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		f.run(ctx, cancel)
	}()
	for e := range f.events {
		each(e)
	}
	<-fed
	switch {
	case f.over:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return errs.New(errs.BusUnavailable, "the rest of the run's events cannot be had right now")
}
