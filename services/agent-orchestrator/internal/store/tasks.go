package store

import (
	"context"
	"slices"
)

// loadTasks reads what the active sub-agents have said and done. It is a second step, because most runs have no sub-agents.
// Nothing changes between the two: the caller holds the session's lease, or nobody works on the session, or the caller's
// write names the change that it has read and fails if there was a later one.
func (s *Store) loadTasks(ctx context.Context, k *kept) error {
	k.Tasks = nil
	var reads []statement
	for _, c := range k.Calls {
		if c.State == Started {
			k.Tasks = append(k.Tasks, Task{Call: c.ID})
		}
	}
	calls := make([]map[int][]Call, len(k.Tasks)) // of each task, by the message that asked
	for i := range k.Tasks {
		t := &k.Tasks[i]
		calls[i] = map[int][]Call{}
		args := []any{k.id, plain(t.Call)}
		reads = append(reads, statement{
			sql:  messageColumns + ` FROM messages m WHERE m.session = ? AND m.parent = ? AND m.parent <> '' ORDER BY m.idx`,
			args: args,
			row: func(scan func(...any) error) error {
				m, err := scanMessage(scan)
				t.Messages = append(t.Messages, m)
				return err
			},
		}, statement{
			sql:  callColumns + `, c.message FROM calls c WHERE c.session = ? AND c.parent = ? AND c.parent <> '' ORDER BY c.position`,
			args: args,
			row: func(scan func(...any) error) error {
				var message int64
				c, err := scanCall(scan, &message)
				calls[i][int(message)] = append(calls[i][int(message)], c)
				return err
			},
		})
	}
	if len(reads) == 0 {
		return nil
	}
	if err := s.db.read(ctx, reads); err != nil {
		return err
	}
	for i := range k.Tasks {
		for _, m := range slices.Backward(k.Tasks[i].Messages) {
			if m.Role == RoleAssistant {
				k.Tasks[i].Calls = calls[i][m.Index]
				break
			}
		}
	}
	k.Tasks = slices.DeleteFunc(k.Tasks, func(t Task) bool { return len(t.Messages) == 0 })
	return nil
}
