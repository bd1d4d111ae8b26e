package store

import (
	"context"
	"slices"
)

// Expect returns the messages that a run would begin with, in order, and changes nothing. ok is false where Begin would not
// begin it now; where the run has begun meanwhile, ok is true. It does not wait for a database that is not available.
func (s *Store) Expect(ctx context.Context, b Begin) (messages []Message, ok bool, err error) {
	var status, run string
	var begun string // by the key
	running := 0
	args := []any{string(b.User), string(b.Session)}
	reads := []statement{{
		sql:  `SELECT s.status, s.run_id FROM sessions s` + byRef,
		args: args,
		row:  func(scan func(...any) error) error { return scan(&status, &run) },
	}, recentMessages(b.Ref, &messages)}
	if b.IdempotencyKey != "" {
		reads = append(reads, statement{
			sql:  `SELECT run_id FROM begun WHERE user_id = ? AND key = ?`,
			args: []any{string(b.User), plain(b.IdempotencyKey)},
			row:  func(scan func(...any) error) error { return scan(&begun) },
		})
	}
	if b.MaxRuns != 0 {
		reads = append(reads, runsOf(b.User, &running))
	}
	if err := s.db.read(ctx, reads); err != nil {
		return nil, false, err
	}
	switch {
	case run == b.Run && status == string(Running):
		return messages, true, nil
	case begun != "", b.Full, b.MaxRuns != 0 && running >= b.MaxRuns:
		return nil, false, nil
	case run == "":
		messages = slices.Clone(b.History)
	case status != string(Idle):
		return nil, false, nil
	}
	return append(messages, Message{Run: b.Run, Role: RoleUser, Content: b.Message}), true, nil
}
