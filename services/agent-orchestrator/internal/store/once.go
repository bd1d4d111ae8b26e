package store

import (
	"context"
	"errors"
	"time"
)

// UseOnce reports whether nobody has used this mark before. It is remembered until then; what is used later has to be refused for
// its age.
func (s *Store) UseOnce(ctx context.Context, mark string, until time.Time) (first bool, err error) {
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		err := s.db.write(ctx, []statement{
			{sql: `DELETE FROM used_marks WHERE expires < ?`, args: []any{time.Now().Add(-time.Minute).UnixMilli()}}, // other pods' clocks may be behind
			{sql: `INSERT INTO used_marks (mark, expires) VALUES (?, ?)`, args: []any{plain(mark), millis(until)}, must: true},
		})
		if first = err == nil; errors.Is(err, errTaken) {
			return nil // or by an attempt of ours whose answer was lost: then it is used, too
		}
		return err
	})
	return first && err == nil, err
}
