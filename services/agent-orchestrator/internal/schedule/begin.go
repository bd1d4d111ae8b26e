package schedule

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/security/seal"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
	"github.com/hecaton-dev/hecaton/services/agent-orchestrator/internal/store"
)

// again is when a run that cannot be begun now is tried again.
const again = 5 * time.Second

// begin begins the run of a firing, once, whoever tries it how often: the firing's id is the run's idempotency key. It returns
// the firing as it is then.
func (s *Scheduler) begin(ctx context.Context, r store.ScheduledRun) (store.ScheduledRun, error) {
	t, err := s.Store.FindScheduledTask(ctx, r.Task)
	if errors.Is(err, errs.TaskNotFound) {
		return r, nil // it was deleted, and the firing with it
	}
	if err != nil {
		return r, err
	}
	req, err := s.request(t, r)
	if err == nil {
		var run string
		if run, err = s.invoke(ctx, r, req); err == nil {
			r.Status, r.Run, r.Started = store.FiringRunning, run, s.Now()
			_, err := s.Store.Step(ctx, r, []store.FiringStatus{store.FiringPending}, false, nil)
			return r, err
		}
	}
	if ctx.Err() != nil {
		return r, err // another pod tries
	}
	if passes(err) && s.Now().Sub(r.FiredFor) < madeUp {
		return r, errors.Join(err, s.Store.Later(ctx, r.ID, again))
	}
	r.Status, r.Error, r.Finished = store.FiringFailed, said(err), s.Now()
	return r, s.settle(ctx, t, r, []store.FiringStatus{store.FiringPending}, r.Error)
}

func (s *Scheduler) invoke(ctx context.Context, r store.ScheduledRun, req *agentv1.InvokeRequest) (run string, err error) {
	ctx, cancel := context.WithTimeout(ctx, hold)
	defer cancel()
	started, err := s.Engine.Invoke(ctx, r.User, req)
	return started.Run, err
}

// passes reports whether a run may be begun later.
func passes(err error) bool {
	for _, reason := range []errs.Reason{errs.AgentUnavailable, errs.RunsLimited, errs.Draining, errs.BusUnavailable, errs.RateLimited} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return errors.Is(err, context.DeadlineExceeded)
}

// said is what a user may be told of an error.
func said(err error) string {
	if told, ok := errors.AsType[*errs.Error](err); ok && told.Reason != errs.Internal {
		return string(told.Reason) + ": " + told.Message
	}
	return "something went wrong in the agent server"
}

// request is the invoke of a firing.
func (s *Scheduler) request(t store.ScheduledTask, r store.ScheduledRun) (*agentv1.InvokeRequest, error) {
	req, err := s.openRun(t)
	if err != nil {
		return nil, err
	}
	req.Message, req.SessionId, req.PreferredNodeId = t.Prompt, string(r.Session), t.Node
	req.ConfirmEveryCall, req.IdempotencyKey = t.RunMode == Confirm, r.ID
	return req, nil
}

// openRun reads how the runs of a task are begun.
func (s *Scheduler) openRun(t store.ScheduledTask) (*agentv1.InvokeRequest, error) {
	req := &agentv1.InvokeRequest{}
	plain, err := s.Sealer.Open(seal.ScheduledRun, t.User, t.Run)
	if err == nil {
		err = proto.Unmarshal(plain, req)
	}
	return req, err
}

// sealRun is the reverse of openRun.
func (s *Scheduler) sealRun(t *store.ScheduledTask, req *agentv1.InvokeRequest) error {
	plain, err := proto.Marshal(req)
	if err == nil {
		t.Run, err = s.Sealer.Seal(seal.ScheduledRun, t.User, plain)
	}
	return err
}
