package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Adopted is a run that was taken over.
type Adopted struct {
	Lease Lease
	State State
}

// expired are the runs whose lease is over. The sub-query makes the time one value, not one for each row.
const expired = ` FROM sessions WHERE status = 'running' AND lease_until < (SELECT {now})`

// Adopt takes over at most limit runs whose lease has expired, the longest expired first; each goes to one pod only. Along
// with an error it may return some runs; those that were taken over and are not returned expire again.
func (s *Store) Adopt(ctx context.Context, owner string, ttl time.Duration, limit int) ([]Adopted, error) {
	var due int64
	var leases []Lease
	err := s.retry(ctx, shortPatience, func(ctx context.Context) error {
		// Most often there is none. A read finds that out, which holds up no writer.
		err := s.db.read(ctx, []statement{{
			sql: `SELECT count(*)` + expired, row: func(scan func(...any) error) error { return scan(&due) },
		}})
		if err != nil || due == 0 {
			return err
		}
		leases = nil
		return s.db.write(ctx, []statement{{
			sql: `WITH due AS MATERIALIZED (SELECT id AS due_id` + expired + ` ORDER BY lease_until LIMIT ? {skip locked})
				UPDATE sessions SET owner = ?, lease_until = {now} + ?, token = token + 1, change = ? FROM due WHERE id = due_id
				RETURNING id, user_id, session_id, run_id, token`,
			args: []any{limit, owner, ttl.Milliseconds(), newChange()},
			row: func(scan func(...any) error) error {
				var l Lease
				var user, session string
				err := scan(&l.id, &user, &session, &l.Run, &l.Token)
				l.Ref = Ref{User: ids.UserID(user), Session: ids.SessionID(session)}
				leases = append(leases, l)
				return err
			},
		}})
	})
	if err != nil {
		return nil, err
	}
	out := make([]Adopted, 0, len(leases))
	for _, l := range leases {
		state, err := s.Load(ctx, l.Ref)
		if errors.Is(err, errs.SessionNotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return out, err
		}
		out = append(out, Adopted{Lease: l, State: state})
	}
	return out, nil
}

// ofPairs holds for the sessions whose lease is among those given.
const ofPairs = ` FROM ({pairs}) AS pair WHERE id = pair_id AND token = pair_token AND status = 'running'`

// pairs is the argument of {pairs}.
func pairs(leases []Lease) (string, error) {
	list := make([][2]int64, len(leases))
	for i, l := range leases {
		list[i] = [2]int64{l.id, l.Token}
	}
	text, err := json.Marshal(list)
	return string(text), err
}

// Renew prolongs leases to ttl from now. lost are those that are no longer valid, cancelled are those (renewed) whose run is
// to be cancelled.
func (s *Store) Renew(ctx context.Context, owner string, ttl time.Duration, leases []Lease) (lost, cancelled []Lease, err error) {
	if len(leases) == 0 {
		return nil, nil, nil
	}
	list, err := pairs(leases)
	if err != nil {
		return nil, nil, err
	}
	type key struct{ id, token int64 }
	var renewed map[key]bool // whether it was cancelled
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		renewed = make(map[key]bool, len(leases))
		return s.db.write(ctx, []statement{{
			sql:  `UPDATE sessions SET lease_until = {now} + ?` + ofPairs + ` AND owner = ? RETURNING id, token, cancel`,
			args: []any{ttl.Milliseconds(), list, owner},
			row: func(scan func(...any) error) error {
				var k key
				var cancel int64
				err := scan(&k.id, &k.token, &cancel)
				renewed[k] = cancel != 0
				return err
			},
		}})
	})
	if err != nil {
		return nil, nil, err
	}
	for _, l := range leases {
		switch asked, ok := renewed[key{l.id, l.Token}]; {
		case !ok:
			lost = append(lost, l)
		case asked:
			cancelled = append(cancelled, l)
		}
	}
	return lost, cancelled, nil
}

// Release lets leases expire at once, so that other pods adopt the runs. Leases that are lost are ignored.
func (s *Store) Release(ctx context.Context, leases []Lease) error {
	if len(leases) == 0 {
		return nil
	}
	list, err := pairs(leases)
	if err != nil {
		return err
	}
	return s.retry(ctx, shortPatience, func(ctx context.Context) error {
		return s.db.write(ctx, []statement{{sql: `UPDATE sessions SET lease_until = 0` + ofPairs, args: []any{list}}})
	})
}
