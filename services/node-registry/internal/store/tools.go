package store

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// ErrNoTools means that no node of the user has the definitions any more.
var ErrNoTools = errors.New("no node of the user has definitions with this digest")

// Tools returns the definitions of a user's node by their digest, packed. The error is [ErrNoTools] where there are none.
func (s *Store) Tools(ctx context.Context, user ids.UserID, digest string) ([]byte, error) {
	packed, err := s.client.HGet(ctx, keysOf(user).tools(), "set "+digest).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, ErrNoTools
	}
	return packed, failure(ctx, "look up tools", err)
}
