package store

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// How many sessions a page has.
const (
	defaultPage = 50
	maxPage     = 200
)

const sessionWithInterrupt = sessionColumns + `, d.interrupt FROM sessions s
	LEFT JOIN details d ON d.session = s.id AND s.status = 'interrupted'`

func (k *kept) scanWithInterrupt(scan func(...any) error) error {
	var interrupt []byte
	if err := k.scanSession(scan, &interrupt); err != nil {
		return err
	}
	return k.scanInterrupt(interrupt)
}

// session reads a session's row.
func (s *Store) session(ctx context.Context, ref Ref) (*kept, error) {
	k := &kept{}
	err := s.db.read(ctx, []statement{{
		sql: sessionWithInterrupt + byRef, args: []any{string(ref.User), string(ref.Session)}, row: k.scanWithInterrupt,
	}})
	if err == nil && !k.found {
		err = notFound(ref)
	}
	k.Ref = ref
	return k, err
}

// Session returns one session. Errors: [errs.SessionNotFound].
func (s *Store) Session(ctx context.Context, ref Ref) (Session, error) {
	var out Session
	err := s.retry(ctx, shortPatience, func(ctx context.Context) error {
		k, err := s.session(ctx, ref)
		if err == nil {
			out = k.Session
		}
		return err
	})
	return out, err
}

// Sessions lists a user's sessions, the last changed first: at most limit (0 means 50; at most 200) after the cursor of
// the page before. next is "" on the last page. A session that changes between two pages may be on both. Errors:
// [errs.InvalidArgument] for a cursor that Sessions has not returned.
func (s *Store) Sessions(ctx context.Context, user ids.UserID, limit int, cursor string) (list []Session, next string, err error) {
	if limit <= 0 {
		limit = defaultPage
	}
	limit = min(limit, maxPage)
	text, args := sessionWithInterrupt+` WHERE s.user_id = ?`, []any{string(user)}
	if cursor != "" {
		at, err := parseCursor(cursor)
		if err != nil {
			return nil, "", err
		}
		text, args = text+` AND (s.updated, s.id) < (?, ?)`, append(args, at.updated, at.id)
	}
	text, args = text+` ORDER BY s.updated DESC, s.id DESC LIMIT ?`, append(args, limit+1)
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		list, next = nil, ""
		var last position
		return s.db.read(ctx, []statement{{sql: text, args: args, row: func(scan func(...any) error) error {
			var k kept
			if err := k.scanWithInterrupt(scan); err != nil {
				return err
			}
			if len(list) == limit {
				next = last.cursor()
				return nil
			}
			k.Ref.User = user
			last = position{millis(k.Updated), k.id}
			list = append(list, k.Session)
			return nil
		}}})
	})
	return list, next, err
}

// position is a place in the list of sessions.
type position struct{ updated, id int64 }

func (p position) cursor() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d.%d", p.updated, p.id))
}

func parseCursor(cursor string) (position, error) {
	var p position
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		_, err = fmt.Sscanf(string(text), "%d.%d", &p.updated, &p.id)
	}
	if err != nil || p.cursor() != cursor {
		return p, errs.New(errs.InvalidArgument, "cursor must be the next_cursor of a list of sessions")
	}
	return p, nil
}

// Delete removes a session with everything stored for it; a lease on it is lost. The user's files stay. Errors:
// [errs.SessionNotFound].
func (s *Store) Delete(ctx context.Context, ref Ref) error {
	seen := false
	return s.retry(ctx, shortPatience, func(ctx context.Context) error {
		k, err := s.session(ctx, ref)
		if err != nil {
			if seen && errors.Is(err, errs.SessionNotFound) { // an earlier attempt has done it
				return nil
			}
			return err
		}
		seen = true
		// The session first: a commit holds its row, and one that comes later finds no row.
		statements := []statement{{sql: `DELETE FROM sessions WHERE id = ?`, args: []any{k.id}, must: 1}}
		for _, table := range []string{"details", "messages", "calls", "events", "begun"} {
			statements = append(statements, statement{sql: `DELETE FROM ` + table + ` WHERE session = ?`, args: []any{k.id}})
		}
		statements = append(statements, statement{
			sql:  `DELETE FROM memories WHERE user_id = ? AND scope = 'session' AND session_id = ?`,
			args: []any{string(ref.User), string(ref.Session)},
		})
		return s.db.write(ctx, statements)
	})
}
