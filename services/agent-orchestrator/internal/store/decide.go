package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
)

// Decide says how an interrupt ends.
type Decide struct {
	Ref
	Owner string
	TTL   time.Duration
	// InterruptID is the interrupt that was decided.
	InterruptID string
	// Calls replace those of the same id: decided, and Ready (or Waiting again, never Ended). If Args differ from the stored
	// ones, the assistant's message is rewritten with them.
	Calls []Call
	// Settings replace the run's, unless nil.
	Settings []byte
	// Messages are appended; the store sets Index and Run. The answer before them still counts as the last one.
	Messages []Message
	// MaxRuns and Full are as in Begin.
	MaxRuns int
	Full    bool
}

// Decide resumes an interrupted run. Of several calls for the same interrupt exactly one succeeds.
//
// Errors: [errs.SessionNotFound], [errs.AlreadyDecided] if the session does not wait for that interrupt,
// [errs.RunsLimited].
func (s *Store) Decide(ctx context.Context, d Decide) (Lease, State, error) {
	change := newChange()
	var k *kept
	err := s.retry(ctx, shortPatience, func(ctx context.Context) (err error) {
		if k, err = s.load(ctx, d.Ref); err != nil {
			return err
		}
		switch {
		case !k.found:
			return notFound(d.Ref)
		case k.change == change && k.owner == d.Owner:
			return nil // an earlier attempt has done it
		case k.Status != Interrupted || k.Interrupt.GetInterruptId() != d.InterruptID:
			return errs.New(errs.AlreadyDecided, "session %q does not wait for this decision any more", string(d.Session))
		}
		if err := s.mayRun(ctx, d); err != nil {
			return err
		}
		statements, err := decideStatements(k, &d, change)
		if err != nil {
			return err
		}
		if err := s.db.write(ctx, statements); err != nil {
			return err
		}
		k, err = s.load(ctx, d.Ref)
		return err
	})
	if err != nil {
		return Lease{}, State{}, err
	}
	if k.change != change {
		return Lease{}, State{}, ErrLeaseLost // the attempts took longer than the lease
	}
	return k.lease(), k.State, nil
}

// leaveInterrupt changes an interrupted session, if it is still as it was read.
const leaveInterrupt = ` WHERE id = ? AND status = 'interrupted' AND change = ?`

func decideStatements(k *kept, d *Decide, change int64) ([]statement, error) {
	messages := slices.Clone(d.Messages)
	for i := range messages {
		messages[i].Index, messages[i].Run = k.LastIndex+1+i, k.Run.ID
	}
	out := []statement{{
		sql: `UPDATE sessions SET status = 'running', finish_reason = '', token = token + 1, owner = ?, lease_until = {now} + ?,
			cancel = 0, change = ?, last_index = ?, updated = {now}` + leaveInterrupt,
		args: []any{d.Owner, d.TTL.Milliseconds(), change, k.LastIndex + len(messages), k.id, k.change},
		must: 1,
	}}
	if d.Settings != nil {
		out = append(out, statement{sql: `UPDATE details SET settings = ? WHERE session = ?`, args: []any{d.Settings, k.id}})
	}
	rewritten, err := rewriteAnswer(k, d.Calls)
	if err != nil {
		return nil, err
	}
	inserted, err := insertMessages(k.id, messages)
	if err != nil {
		return nil, err
	}
	return slices.Concat(out, rewritten, putCalls(k.id, nil, d.Calls), inserted), nil
}

// rewriteAnswer puts the changed arguments into the model's own message: otherwise the model would go on from a call that
// was never made.
func rewriteAnswer(k *kept, calls []Call) ([]statement, error) {
	kept := k.AllCalls()
	changed := map[int]*Message{}
	for _, c := range calls {
		at := slices.IndexFunc(kept, func(old Call) bool { return old.ID == c.ID })
		m, own := k.asking(c)
		if at < 0 || m == nil {
			return nil, fmt.Errorf("store: call %q is not one of the last answer's", c.ID)
		}
		if !bytes.Equal(kept[at].Args, c.Args) {
			own.Args, changed[m.Index] = string(c.Args), m
		}
	}
	var out []statement
	for _, m := range changed {
		data, err := json.Marshal(m.Calls)
		if err != nil {
			return nil, err
		}
		out = append(out, statement{sql: `UPDATE messages SET calls = ? WHERE session = ? AND idx = ?`, args: []any{data, k.id, m.Index}})
	}
	return out, nil
}

// asking returns the message that asked for a call, and the call in it.
func (k *kept) asking(c Call) (*Message, *MessageCall) {
	messages := k.Messages
	for i := range k.Tasks {
		if k.Tasks[i].Call == c.Parent {
			messages = k.Tasks[i].Messages
		}
	}
	for i := range slices.Backward(messages) {
		for j := range messages[i].Calls {
			if messages[i].Calls[j].ID == c.ID {
				return &messages[i], &messages[i].Calls[j]
			}
		}
	}
	return nil, nil
}
