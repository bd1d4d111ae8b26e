package store

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	agentv1 "github.com/hecaton-dev/hecaton/proto/gen/hecaton/agent/v1"
)

// Why an interrupt ends without anybody's decision, as its calls keep it.
const (
	timedOut  = "timeout"
	cancelled = "cancelled"
)

// expire ends an interrupt whose time is over; if it is not over, the error is errs.Interrupted.
func (s *Store) expire(ctx context.Context, ref Ref) error {
	k, err := s.load(ctx, ref)
	if err != nil || k.Status != Interrupted {
		return err // it was ended meanwhile
	}
	if !k.timeIsOver() {
		return errs.New(errs.Interrupted, "session %q waits for a decision", string(ref.Session))
	}
	statements, _, err := k.dropInterrupt(timedOut, newChange())
	if err != nil {
		return err
	}
	return s.db.write(ctx, statements)
}

// timeIsOver reports whether the time for every waiting decision is over. Calls that will be asked about later have no
// time limit yet.
func (k *kept) timeIsOver() bool {
	asked := 0
	for _, c := range k.AllCalls() {
		if c.State != Waiting || c.Expires.IsZero() {
			continue
		}
		if asked++; c.Expires.After(k.Now) {
			return false
		}
	}
	return asked > 0
}

// dropInterrupt ends an interrupt without anybody's decision: the waiting calls get one, and every call that has not ended
// a tool message and an event; the last event is a `complete`.
func (k *kept) dropInterrupt(decision string, change int64) ([]statement, []*agentv1.Event, error) {
	var c Change
	say := func(e *agentv1.Event) {
		e.Seq, e.SessionId, e.RunId = k.LastSeq+int64(len(c.Events)+1), string(k.Ref.Session), k.Run.ID
		e.At = timestamppb.New(k.Now)
		c.Events = append(c.Events, e)
	}
	for _, call := range k.AllCalls() {
		if call.State == Ended {
			continue
		}
		told := undone(&call, decision)
		if call.State == Waiting {
			call.Decision, call.Decided = decision, k.Now
		}
		call.State, call.Expires = Ended, time.Time{}
		c.Calls = append(c.Calls, call)
		c.Messages = append(c.Messages, Message{
			Index: k.LastIndex + 1 + len(c.Messages), Run: k.Run.ID, Parent: call.Parent, Role: "tool", CallID: call.ID, Tool: call.Tool,
			Content: told.GetResult(), At: k.Now,
		})
		say(&agentv1.Event{ParentToolCallId: call.Parent, Kind: &agentv1.Event_ToolCallResult{ToolCallResult: told}})
	}
	say(&agentv1.Event{Kind: &agentv1.Event_Complete{Complete: &agentv1.Complete{FinishReason: cancelled}}})
	statements, err := appendRows([]statement{{
		sql: `UPDATE sessions SET status = 'idle', finish_reason = 'cancelled', change = ?, last_index = ?, last_seq = ?,
			updated = {now}` + leaveInterrupt,
		args: []any{change, k.LastIndex + len(c.Messages), k.LastSeq + int64(len(c.Events)), k.id, k.change},
		must: 1,
	}}, k.lease(), &c)
	return statements, c.Events, err
}

// undone is what clients and the model are told of a call that an interrupt's end leaves undone. An earlier decision about
// it, for example made while a node was to be chosen, still counts.
func undone(c *Call, decision string) *agentv1.ToolCallResult {
	told := &agentv1.ToolCallResult{ToolCallId: c.ID, ToolName: c.Tool, IsError: true, Outcome: cancelled}
	switch {
	case c.Decision == "rejected":
		why := c.Reason
		if why == "" {
			why = "no reason was given"
		}
		told.Outcome = "rejected"
		told.Result = fmt.Sprintf("The user rejected this call of %s (%s). It did not run. Do not try this call again.", c.Tool, why)
	case c.Decision == timedOut, c.State == Waiting && decision == timedOut:
		told.Outcome = timedOut
		told.Result = fmt.Sprintf("Nobody decided in time whether %s may run, so it did not run. This was not a person's no.", c.Tool)
	case c.State == Started: // a sub-agent that waited
		told.Result = c.Tool + " was stopped before its end: " + whyStopped(decision) + ". What it had done until then stands"
	case decision == timedOut:
		told.Result = c.Tool + " was not run: nobody decided in time about other calls of the same answer"
	default:
		told.Result = c.Tool + " was not run: the run was cancelled before it could run"
	}
	return told
}

// RequestCancel asks for the end of a session's run. A running one is marked, and its pod learns of that when it renews the
// lease. An interrupt ends at once: its calls get the decision "cancelled", tool messages and events, and a `complete` event
// is appended. active reports whether there was something to cancel; events are those that were appended, for the caller to
// publish.
//
// Errors: [errs.SessionNotFound].
func (s *Store) RequestCancel(ctx context.Context, ref Ref) (active bool, events []*agentv1.Event, err error) {
	change := newChange()
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		k, err := s.load(ctx, ref)
		switch {
		case err != nil:
			return err
		case !k.found:
			return notFound(ref)
		case k.change == change: // an earlier attempt has done it
			return nil
		case k.Status == Running:
			active, events = true, nil
			return s.db.write(ctx, []statement{{
				sql:  `UPDATE sessions SET cancel = 1 WHERE id = ? AND status = 'running' AND run_id = ?`,
				args: []any{k.id, k.Run.ID}, must: 1,
			}})
		case k.Status != Interrupted:
			active, events = false, nil
			return nil
		}
		var statements []statement
		if statements, events, err = k.dropInterrupt(cancelled, change); err != nil {
			return err
		}
		active = true
		return s.db.write(ctx, statements)
	})
	return active && err == nil, events, err
}

func whyStopped(decision string) string {
	if decision == timedOut {
		return "nobody decided in time about a call of its sub-agent"
	}
	return "the run was cancelled"
}
