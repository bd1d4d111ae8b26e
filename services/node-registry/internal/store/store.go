package store

import (
	"context"
	"errors"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/redis/go-redis/v9"

	"github.com/hecaton-dev/hecaton/pkg/ids"
)

// Rules are the numbers of presence.
type Rules struct {
	// Lease is how long a node counts as online after its last sign of life.
	Lease time.Duration
	// NodesPerUser is how many live nodes a user may have.
	NodesPerUser int
	// SessionTTL is how long a binding outlives its last use.
	SessionTTL time.Duration
	// Unseen is how long a connection must not have been renewed before its gateway's silence ends it: one that was is of a
	// gateway that is back.
	Unseen time.Duration
}

// DefaultRules are those of docs/protocols/zeus-connections.md#limits.
var DefaultRules = Rules{Lease: time.Minute, NodesPerUser: 10, SessionTTL: 24 * time.Hour, Unseen: 5 * time.Second}

const (
	// recently is how long a node that went away is listed as offline (docs/protocols/nodes-rest.md#list).
	recently = time.Minute
	// remembered is how long what is known of a user's absent nodes outlives their last sign of life.
	remembered = 24 * time.Hour
	// seenFor is how long a node counts as seen. Epochs need no counter to grow, but who keeps registering under new
	// names must not fill Redis for good.
	seenFor = 90 * 24 * time.Hour
	// goneKept bounds the nodes of one user that are remembered while they are gone.
	goneKept = 16
	// likelyUsers bounds the users of whom is remembered which nodes they had.
	likelyUsers = 16 << 10
)

// Store is presence in Redis. It is safe for concurrent use, and keeps no state of its own but guesses, which Redis confirms.
type Store struct {
	client redis.UniversalClient
	rules  Rules
	likely *lru.Cache[ids.UserID, []ids.NodeID] // the live nodes of users, as they were when these were asked for last
}

// Validate reports what cannot work.
func (r Rules) Validate() error {
	var problems []error
	if r.NodesPerUser < 1 {
		problems = append(problems, errors.New("nodes-per-user must be at least 1"))
	}
	if min(r.Lease, r.SessionTTL) < time.Millisecond { // Redis counts in milliseconds
		problems = append(problems, errors.New("lease and session-ttl must be at least 1ms"))
	}
	return errors.Join(problems...)
}

// New returns a Store over client, which stays the caller's.
func New(client redis.UniversalClient, rules Rules) (*Store, error) {
	if err := rules.Validate(); err != nil {
		return nil, err
	}
	likely, err := lru.New[ids.UserID, []ids.NodeID](likelyUsers)
	if err != nil {
		return nil, err
	}
	return &Store{client: client, rules: rules, likely: likely}, nil
}

// Ping fails where Redis cannot be used now.
func (s *Store) Ping(ctx context.Context) error {
	return failure(ctx, "ping", s.client.Ping(ctx).Err())
}

func ms(d time.Duration) int64 { return d.Milliseconds() }

func fromMS(n int64) time.Time { return time.UnixMilli(n) }
