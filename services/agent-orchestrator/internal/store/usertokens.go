package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/hecaton-dev/hecaton/pkg/errs"
	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// UserToken is a token that a user has made.
type UserToken struct {
	ID     string // chosen by the caller
	User   ids.UserID
	Name   string
	Hash   []byte
	Scopes []string
	// Nodes are those that it is good for; none means all.
	Nodes   []string
	Created time.Time
	Expires time.Time
}

// MaxUserTokens is how many tokens a user may have that have not expired.
const MaxUserTokens = 100

const userTokenColumns = `SELECT id, user_id, name, hash, scopes, nodes, created, expires FROM user_tokens WHERE `

func (s *Store) userTokens(ctx context.Context, condition string, args ...any) (out []UserToken, err error) {
	err = s.retry(ctx, shortPatience, func(ctx context.Context) error {
		out = nil
		return s.db.read(ctx, []statement{{
			sql: userTokenColumns + condition + ` ORDER BY created, id`, args: args,
			row: func(scan func(...any) error) error {
				var t UserToken
				var user, scopes, nodes string
				var created, expires int64
				err := scan(&t.ID, &user, &t.Name, &t.Hash, &scopes, &nodes, &created, &expires)
				t.User, t.Created, t.Expires = ids.UserID(user), moment(created), moment(expires)
				out = append(out, t)
				last := &out[len(out)-1]
				return errors.Join(err, json.Unmarshal([]byte(scopes), &last.Scopes), json.Unmarshal([]byte(nodes), &last.Nodes))
			},
		}})
	})
	return out, err
}

// UserTokens returns a user's tokens, the oldest first.
func (s *Store) UserTokens(ctx context.Context, user ids.UserID) ([]UserToken, error) {
	return s.userTokens(ctx, `user_id = ?`, string(user))
}

// FindUserTokens returns those of the tokens, of any users, that are there and have not expired.
func (s *Store) FindUserTokens(ctx context.Context, list []string) ([]UserToken, error) {
	if len(list) == 0 {
		return nil, nil
	}
	args := make([]any, 0, len(list)+1)
	for _, id := range list {
		args = append(args, plain(id))
	}
	return s.userTokens(ctx, `id IN (`+marks(len(list))+`) AND expires > ?`, append(args, time.Now().UnixMilli())...)
}

// CreateUserToken stores a new one, and forgets those of the user that have expired. Errors: [errs.LimitReached].
func (s *Store) CreateUserToken(ctx context.Context, t UserToken) error {
	scopes, err := json.Marshal(t.Scopes)
	if err != nil {
		return err
	}
	nodes, err := json.Marshal(t.Nodes)
	if err != nil {
		return err
	}
	forget := statement{
		sql: `DELETE FROM user_tokens WHERE user_id = ? AND expires <= ?`, args: []any{string(t.User), time.Now().UnixMilli()},
	}
	insert := statement{
		sql: `INSERT INTO user_tokens (id, user_id, name, hash, scopes, nodes, created, expires)
			SELECT ?, ?, ?, ?, ?, ?, ?, ? WHERE (SELECT count(*) FROM user_tokens WHERE user_id = ?) < ?`,
		args: []any{
			plain(t.ID), string(t.User), plain(t.Name), t.Hash, string(scopes), string(nodes), millis(t.Created), millis(t.Expires),
			string(t.User), MaxUserTokens,
		},
		must: 1,
	}
	return s.retry(ctx, shortPatience, func(ctx context.Context) error {
		err := s.db.write(ctx, []statement{lockUser(t.User), forget, insert})
		switch {
		case errors.Is(err, errTaken):
			return nil // by an earlier attempt, whose answer was lost: ids are random
		case errors.Is(err, errUnmet):
			return errs.New(errs.LimitReached, "a user may have at most %d tokens", MaxUserTokens)
		default:
			return err
		}
	})
}

// DeleteUserToken removes one. Errors: [errs.TokenNotFound].
func (s *Store) DeleteUserToken(ctx context.Context, user ids.UserID, id string) error {
	attempts := 0
	return s.retry(ctx, shortPatience, func(ctx context.Context) error {
		attempts++
		err := s.db.write(ctx, []statement{{
			sql: `DELETE FROM user_tokens WHERE user_id = ? AND id = ?`, args: []any{string(user), plain(id)}, must: 1,
		}})
		switch {
		case errors.Is(err, errUnmet) && attempts > 1:
			return nil // by an earlier attempt, whose answer was lost
		case errors.Is(err, errUnmet):
			return errs.New(errs.TokenNotFound, "there is no token %q", id)
		default:
			return err
		}
	})
}
