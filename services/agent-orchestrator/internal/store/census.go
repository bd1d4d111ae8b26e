package store

import (
	"context"
	"time"
)

// Census counts runs of all pods that nobody works on.
type Census struct {
	// Waiting runs wait for a person: for a decision, or for the choice of a node.
	Waiting int64
	// Orphaned runs belonged to a pod that is gone, and no pod has taken them over.
	Orphaned int64
}

// Count counts the runs that began to wait within the last while, and those whose lease expired more than grace ago. It
// does not retry.
func (s *Store) Count(ctx context.Context, within, grace time.Duration) (Census, error) {
	var c Census
	one := func(into *int64) func(func(...any) error) error {
		return func(scan func(...any) error) error { return scan(into) }
	}
	err := s.db.read(ctx, []statement{
		{
			sql:  `SELECT count(*) FROM sessions WHERE status = 'interrupted' AND updated > (SELECT {now}) - ?`,
			args: []any{within.Milliseconds()}, row: one(&c.Waiting),
		},
		{
			sql:  `SELECT count(*) FROM sessions WHERE status = 'running' AND lease_until < (SELECT {now}) - ?`,
			args: []any{grace.Milliseconds()}, row: one(&c.Orphaned),
		},
	})
	return c, err
}
