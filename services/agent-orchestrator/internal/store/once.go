package store

import (
	"context"
	"errors"
	"time"
)

// UseOnce reports whether this mark was never used before. The mark is remembered until the given time; the caller has to
// refuse marks that are older.
func (s *Store) UseOnce(ctx context.Context, mark string, until time.Time) (first bool, err error) {
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		err := s.db.write(ctx, []statement{
			{sql: `DELETE FROM used_marks WHERE expires < ?`, args: []any{time.Now().Add(-time.Minute).UnixMilli()}}, // other pods' clocks may be behind
			{sql: `INSERT INTO used_marks (mark, expires) VALUES (?, ?)`, args: []any{plain(mark), millis(until)}, must: 1},
		})
		if first = err == nil; errors.Is(err, errTaken) {
			return nil // or by an attempt of ours whose answer was lost: then it counts as used, too
		}
		return err
	})
	return first && err == nil, err
}
