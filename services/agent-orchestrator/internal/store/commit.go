package store

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"
)

// commitSession changes a session's row if the lease is still valid, the events follow the last one, and neither this
// change nor a later one has been made yet: an earlier attempt whose connection broke may still arrive. A run that is to be
// cancelled is never interrupted: whoever cancelled it would not learn that it waits.
const commitSession = `UPDATE sessions SET last_seq = COALESCE(?, last_seq), last_index = COALESCE(?, last_index),
	covered = COALESCE(?, covered), answer = COALESCE(?, answer), steps = COALESCE(?, steps), streaming = COALESCE(?, streaming),
	status = ?, finish_reason = ?, change = ?, updated = CASE WHEN ? = 1 THEN {now} ELSE updated END
	WHERE id = ? AND token = ? AND run_id = ? AND status = 'running' AND change < ? AND last_seq = COALESCE(?, last_seq)
		AND cancel <= ?`

// Commit writes a change whole or not at all; when it returns nil, the change survives the pod. Commit retries during an
// outage, and looks up a commit whose answer was lost, so that it is never written twice.
//
// Errors: [ErrLeaseLost]; [ErrSequence] if the events do not follow the session's last one; [ErrCancelRequested] if the
// change is an interrupt, and the run is to be cancelled.
func (s *Store) Commit(ctx context.Context, l Lease, c Change) error {
	change := newChange()
	m, err := newMember(l, &c, change)
	if err != nil {
		return err
	}
	// Without a timer for each piece of text: the group ends its transactions in time.
	return s.repeat(ctx, s.patience, func(ctx context.Context) error {
		err := s.tracer.do(ctx, "commit", max(1, len(m.statements)), func(ctx context.Context) error { return s.commits.write(ctx, m) })
		if !errors.Is(err, errUnmet) {
			return err
		}
		return once(ctx, func(ctx context.Context) error { return s.whyUnmet(ctx, l, &c, change) })
	})
}

// whyUnmet says why a change was not made; nil where an earlier attempt made it.
func (s *Store) whyUnmet(ctx context.Context, l Lease, c *Change, change int64) error {
	found := false
	var token, kept, seq, cancel int64
	var run, status string
	err := s.db.read(ctx, []statement{{
		sql:  `SELECT token, run_id, status, change, last_seq, cancel FROM sessions WHERE id = ?`,
		args: []any{l.id},
		row: func(scan func(...any) error) error {
			found = true
			return scan(&token, &run, &status, &kept, &seq, &cancel)
		},
	}})
	switch {
	case err != nil:
		return err
	case found && kept == change:
		return nil
	case !found || token != l.Token || run != l.Run || Status(status) != Running:
		return ErrLeaseLost
	case len(c.Events) > 0 && c.Events[0].GetSeq() != seq+1:
		return fmt.Errorf("%w: it is %d, and the first of the change %d", ErrSequence, seq, c.Events[0].GetSeq())
	case cancel != 0 && c.interrupts():
		return ErrCancelRequested
	default:
		return errUnmet
	}
}

// newMember returns what a group has to write for a change.
func newMember(l Lease, c *Change, change int64) (member, error) {
	if c.onlyAdds() {
		a, err := newAddition(l, c, change)
		return member{session: l.id, addition: &a}, err
	}
	statements, err := commitStatements(l, c, change)
	return member{session: l.id, statements: statements}, err
}

// interrupts reports whether the run is to wait for somebody.
func (c *Change) interrupts() bool { return c.End != nil && c.End.Interrupt != nil }

func commitStatements(l Lease, c *Change, change int64) ([]statement, error) {
	var lastSeq, before, lastIndex, covered, answer, steps, streaming any
	if n := len(c.Events); n > 0 {
		if err := inOrder(c.Events); err != nil {
			return nil, err
		}
		before, lastSeq = c.Events[0].GetSeq()-1, c.Events[n-1].GetSeq()
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		lastIndex = m.Index
		switch {
		case m.Parent != "":
		case m.Role == RoleAssistant:
			answer = m.Index
		case m.Role == RoleSystem:
			covered, answer = m.Covers, 0
		case m.Role == RoleUser:
			answer = 0
		}
	}
	if c.Steps != nil {
		steps = *c.Steps
	}
	if c.Streaming != nil {
		streaming = plain(*c.Streaming)
	}
	status, reason, touched, mayBeCancelled := Running, "", 0, 1
	if c.End != nil {
		status, reason = Idle, c.End.FinishReason
	}
	if c.interrupts() {
		status, mayBeCancelled = Interrupted, 0
	}
	if c.End != nil || len(c.Messages) > 0 {
		touched = 1
	}
	out := []statement{{sql: commitSession, must: 1, args: []any{
		lastSeq, lastIndex, covered, answer, steps, streaming, string(status), plain(reason), change, touched,
		l.id, l.Token, l.Run, change, before, mayBeCancelled,
	}}}
	return appendRows(out, l, c)
}

// appendRows adds what a change writes beside the session's row.
func appendRows(out []statement, l Lease, c *Change) ([]statement, error) {
	if n := len(c.Events); n > 0 {
		data, err := frame(c.Events)
		if err != nil {
			return nil, err
		}
		out = append(out, statement{
			sql:  `INSERT INTO events (session, last_seq, run_id, data) VALUES (?, ?, ?, ?)`,
			args: []any{l.id, c.Events[n-1].GetSeq(), l.Run, data},
		})
	}
	messages, err := insertMessages(l.id, c.Messages)
	if err != nil {
		return nil, err
	}
	out = append(append(out, messages...), putCalls(l.id, c.Messages, c.Calls)...)
	if c.Todos != nil {
		out = append(out, statement{sql: `UPDATE details SET todos = ? WHERE session = ?`, args: []any{c.Todos, l.id}})
	}
	if c.ToolNames != nil {
		out = append(out, statement{sql: `UPDATE details SET lexicon = ? WHERE session = ?`, args: []any{c.ToolNames, l.id}})
	}
	if c.Skills != nil {
		out = append(out, statement{sql: `UPDATE details SET skills = ? WHERE session = ?`, args: []any{c.Skills, l.id}})
	}
	if c.interrupts() {
		data, err := proto.Marshal(c.End.Interrupt)
		if err != nil {
			return nil, fmt.Errorf("store: an interrupt cannot be kept: %w", err)
		}
		out = append(out, statement{sql: `UPDATE details SET interrupt = ? WHERE session = ?`, args: []any{data, l.id}})
	}
	return out, nil
}

// putCalls inserts calls, or replaces those of the same id. A call belongs to the assistant message that asked for it,
// if that is among messages, else to the one that it belonged to before.
func putCalls(session int64, messages []Message, calls []Call) []statement {
	asked := map[string]int{}
	for i := range messages {
		for _, c := range messages[i].Calls {
			asked[c.ID] = messages[i].Index
		}
	}
	rows := make([][]any, len(calls))
	for i := range calls {
		c := &calls[i]
		rows[i] = []any{
			session, plain(c.ID), plain(c.Run), plain(c.Parent), asked[c.ID], c.Position, plain(c.Tool), plain(c.Key), c.Args, string(c.State), plain(c.Node), plain(c.NodeMark),
			plain(c.Digest), plain(c.Interrupt), plain(c.Decision), plain(c.Reason), millis(c.Expires), millis(c.Decided),
		}
	}
	return inserts(
		`INSERT INTO calls (session, id, run_id, parent, message, position, tool, tool_key, args, state, node, node_mark, digest, interrupt, decision, reason,
			expires, decided)`,
		`ON CONFLICT (session, id) DO UPDATE SET run_id = excluded.run_id,
			message = CASE WHEN excluded.message > 0 THEN excluded.message ELSE calls.message END, position = excluded.position, tool = excluded.tool,
			tool_key = excluded.tool_key, args = excluded.args, state = excluded.state, node = excluded.node, node_mark = excluded.node_mark,
			digest = excluded.digest, interrupt = excluded.interrupt, decision = excluded.decision, reason = excluded.reason,
			expires = excluded.expires, decided = excluded.decided`, rows)
}
