package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/refusal"
)

// Decide says how an interrupt ends.
type Decide struct {
	Ref
	Owner string
	TTL   time.Duration
	// InterruptID is the interrupt that was decided.
	InterruptID string
	// Calls replace those of the same id: decided, and Ready (or Waiting again, never Ended). Where Args differ from those
	// kept, the assistant's message is rewritten with them.
	Calls []Call
	// Settings replace the run's, unless nil.
	Settings []byte
	// Messages are appended; the store sets Index and Run. The calls of the answer before them still count as the last's.
	Messages []Message
	// MaxRuns and Full are as in Begin.
	MaxRuns int
	Full    bool
}

// Decide takes an interrupted run up again. Of several that decide the same interrupt exactly one succeeds.
//
// Errors: [refusal.SessionNotFound], [refusal.AlreadyDecided] where the session does not wait for that interrupt,
// [refusal.RunsLimited].
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
			return refusal.New(refusal.AlreadyDecided, "session %q does not wait for this decision any more", string(d.Session))
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
		return Lease{}, State{}, ErrLeaseLost // the time between was longer than the lease
	}
	return k.lease(), k.State, nil
}

// leaveInterrupt changes an interrupted session that is as it was read.
const leaveInterrupt = ` WHERE id = ? AND status = 'interrupted' AND change = ?`

func decideStatements(k *kept, d *Decide, change int64) ([]statement, error) {
	messages := slices.Clone(d.Messages)
	for i := range messages {
		messages[i].Index, messages[i].Run = k.lastIndex+1+i, k.Run.ID
	}
	out := []statement{{
		sql: `UPDATE sessions SET status = 'running', finish_reason = '', token = token + 1, owner = ?, lease_until = {now} + ?,
			cancel = 0, change = ?, last_index = ?, updated = {now}` + leaveInterrupt,
		args: []any{d.Owner, d.TTL.Milliseconds(), change, k.lastIndex + len(messages), k.id, k.change},
		must: true,
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

// rewriteAnswer has the model read, as its own, the arguments that were run: else it would go on from a call that never
// was.
func rewriteAnswer(k *kept, calls []Call) ([]statement, error) {
	i := -1
	for at, m := range k.Messages {
		if m.Role == "assistant" {
			i = at
		}
	}
	changed := false
	for _, c := range calls {
		at := slices.IndexFunc(k.Calls, func(old Call) bool { return old.ID == c.ID })
		if at < 0 || i < 0 {
			return nil, fmt.Errorf("store: call %q is none of the last answer", c.ID)
		}
		if bytes.Equal(k.Calls[at].Args, c.Args) {
			continue
		}
		for j := range k.Messages[i].Calls {
			if own := &k.Messages[i].Calls[j]; own.ID == c.ID {
				own.Args, changed = string(c.Args), true
			}
		}
	}
	if !changed {
		return nil, nil
	}
	data, err := json.Marshal(k.Messages[i].Calls)
	if err != nil {
		return nil, err
	}
	return []statement{{
		sql:  `UPDATE messages SET calls = ? WHERE session = ? AND idx = ?`,
		args: []any{data, k.id, k.Messages[i].Index},
	}}, nil
}
